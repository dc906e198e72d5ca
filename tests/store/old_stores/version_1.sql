PRAGMA application_id = 1297304625;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE asks (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, position INTEGER NOT NULL,
    stage INTEGER NOT NULL, batch INTEGER NOT NULL, key TEXT, vector BLOB, beat REAL,
    losses TEXT NOT NULL, complexity REAL, bound INTEGER NOT NULL, checksum INTEGER NOT NULL,
    UNIQUE (run, position)
);
INSERT INTO "asks" VALUES('20251116-025301-dolob',0,0,0,'2ec214d7f15b45102abb14936fa15e17d03eaa3b5925e66d4351dca167d5872e',X'00000000000000009A9999999999B93F',NULL,'[0.0]',0.0,0,1033767955);
INSERT INTO "asks" VALUES('20251116-025301-dolob',1,0,0,'30c8347ca2af5b64762777140d23e93bf61b54c7fc7048084c4bf77a3af678da',X'922449922449C23F9A9999999999B93F',NULL,'[0.001]',1.0,0,3735223295);
INSERT INTO "asks" VALUES('20251116-025301-dolob',2,0,0,'9aceeb4bc78e5e2a409bf1c17358ba046bcd4ef6c483cdb7931c7802df50489e',X'922449922449D23F9A9999999999B93F',NULL,'[0.002]',2.0,0,2241262489);
INSERT INTO "asks" VALUES('20251116-025301-dolob',3,0,0,'7bb9a46f3bcb4f5df9a6c5ebf279ae99f9256eaf44b1fa79219481dea42e2a2b',X'DBB66DDBB66DDB3F9A9999999999B93F',NULL,'[Infinity]',0.0,0,1987946959);
INSERT INTO "asks" VALUES('20251116-025301-dolob',4,0,0,'bff4e677e498ae998ac693d0330211d8cb42733fda8ed21b80e160f7043167fc',X'922449922449E23F9A9999999999B93F',NULL,'[0.004]',4.0,0,480103201);
INSERT INTO "asks" VALUES('20251116-025301-dolob',5,0,1,'6ac63300728fa3862e1a3d9246ada205c9b5ca39e993c27d6111958e9bdb9cf7',X'B76DDBB66DDBE63F9A9999999999B93F',NULL,'[0.005]',5.0,0,3794949561);
INSERT INTO "asks" VALUES('20251116-025301-dolob',6,0,1,'d37bb193c46604b71240aaf081db61ace84bb547ce1ebb1dbefda3e926cc4326',X'DBB66DDBB66DEB3F9A9999999999B93F',NULL,'[0.006]',6.0,0,1155867079);
INSERT INTO "asks" VALUES('20251116-025301-dolob',7,0,1,'9490ec3c83a538ce665f0d63268d39b2f394afd8981c44692a859abd11152ff9',X'000000000000F03F9A9999999999B93F',0.0035,'[0.007]',0.0,1,2881083316);
INSERT INTO "asks" VALUES('20251116-025301-dolob',8,0,1,'37f436f2f96912534cb98cbf48ded1c7e8e858dfebe4bf8697d00c84e31bb252',X'922449922449F23F9A9999999999B93F',NULL,'[0.008]',8.0,0,2670721000);
INSERT INTO "asks" VALUES('20251116-025301-dolob',9,0,1,'170f4afa3b50ade443ea5f803489591905788e951014a8467ad70d8e5f45278e',X'254992244992F43F9A9999999999B93F',NULL,'[0.009]',9.0,0,900610351);
CREATE TABLE evaluations (
    key TEXT PRIMARY KEY NOT NULL, model TEXT NOT NULL, data TEXT NOT NULL, protocol TEXT NOT NULL,
    question TEXT NOT NULL, text TEXT NOT NULL,
    grade INTEGER NOT NULL, loss REAL NOT NULL, losses TEXT NOT NULL, measures TEXT NOT NULL,
    complexity REAL, beat REAL, cause TEXT, message TEXT, step TEXT, peak_memory INTEGER,
    seconds REAL NOT NULL, fits INTEGER NOT NULL, fits_saved INTEGER NOT NULL, folds_skipped INTEGER NOT NULL,
    warnings TEXT NOT NULL, run TEXT, created TEXT NOT NULL, tool TEXT NOT NULL, checksum INTEGER NOT NULL
);
INSERT INTO "evaluations" VALUES('2ec214d7f15b45102abb14936fa15e17d03eaa3b5925e66d4351dca167d5872e','374607ea4d6453e77daa73f6657d67704ce9f0c172ede08ee868357e209c6317','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp','{"seed": 7, "share": 1.0, "turn": 0, "versions": {"sklearn": "1.8.0"}}','standardize(center = true) >> knn(k = 0, note = "0")',2,0.0,'[0.0]','{"ber": 0.0, "features": 0.0}',0.0,NULL,NULL,NULL,NULL,NULL,0.5,5,2,0,'["did not converge"]','20251116-025301-dolob','2025-11-16T02:53:03.000000Z','0.1.0',331186758);
INSERT INTO "evaluations" VALUES('30c8347ca2af5b64762777140d23e93bf61b54c7fc7048084c4bf77a3af678da','a28d2c57cf8c79f0648fa7f046346653fa0873db342817da21c589a44c886bb6','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp','{"seed": 7, "share": 1.0, "turn": 0, "versions": {"sklearn": "1.8.0"}}','standardize(center = true) >> knn(k = 1, note = "0")',2,0.001,'[0.001]','{"ber": 0.001, "features": 1.0}',1.0,NULL,NULL,NULL,NULL,NULL,0.5,5,2,0,'[]','20251116-025301-dolob','2025-11-16T02:53:03.000000Z','0.1.0',3418679995);
INSERT INTO "evaluations" VALUES('9aceeb4bc78e5e2a409bf1c17358ba046bcd4ef6c483cdb7931c7802df50489e','b418585c07fe3ac3d62572a35150b4b1d2dc350fff18aad11e91ee2f843219d0','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp','{"seed": 7, "share": 1.0, "turn": 0, "versions": {"sklearn": "1.8.0"}}','standardize(center = true) >> knn(k = 2, note = "0")',2,0.002,'[0.002]','{"ber": 0.002, "features": 2.0}',2.0,NULL,NULL,NULL,NULL,NULL,0.5,5,2,0,'[]','20251116-025301-dolob','2025-11-16T02:53:03.000000Z','0.1.0',507951931);
INSERT INTO "evaluations" VALUES('7bb9a46f3bcb4f5df9a6c5ebf279ae99f9256eaf44b1fa79219481dea42e2a2b','dbbc7f90ff08998d00877b6fce0146ce0730a7c37b22474094873038c9a39b54','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp','{"seed": 7, "share": 1.0, "turn": 0, "versions": {"sklearn": "1.8.0"}}','standardize(center = true) >> knn(k = 3, note = "0")',1,9e999,'[Infinity]','{}',0.0,NULL,'memory','not enough memory','knn',1000003,1.5,1,0,0,'[]','20251116-025301-dolob','2025-11-16T02:53:03.000000Z','0.1.0',3769898530);
INSERT INTO "evaluations" VALUES('bff4e677e498ae998ac693d0330211d8cb42733fda8ed21b80e160f7043167fc','d0a1f4e9f2dd92c6d8d98dc9f1317a04d141b0d6f8eaa6173fa33e43f3bf3ca5','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp','{"seed": 7, "share": 1.0, "turn": 0, "versions": {"sklearn": "1.8.0"}}','standardize(center = true) >> knn(k = 4, note = "0")',2,0.004,'[0.004]','{"ber": 0.004, "features": 4.0}',4.0,NULL,NULL,NULL,NULL,NULL,0.5,5,2,0,'["did not converge"]','20251116-025301-dolob','2025-11-16T02:53:03.000000Z','0.1.0',426750336);
INSERT INTO "evaluations" VALUES('6ac63300728fa3862e1a3d9246ada205c9b5ca39e993c27d6111958e9bdb9cf7','5b838d585974eb3da88254483654083e8d0a3a7abc336c3046466c6ef36086bd','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp','{"seed": 7, "share": 1.0, "turn": 0, "versions": {"sklearn": "1.8.0"}}','standardize(center = true) >> knn(k = 5, note = "0")',2,0.005,'[0.005]','{"ber": 0.005, "features": 5.0}',5.0,NULL,NULL,NULL,NULL,NULL,0.5,5,2,0,'[]','20251116-025301-dolob','2025-11-16T02:53:03.000000Z','0.1.0',1666520069);
INSERT INTO "evaluations" VALUES('d37bb193c46604b71240aaf081db61ace84bb547ce1ebb1dbefda3e926cc4326','dcbdb4f6602d17d23084c424652d44cb37e3ab2028cf95051b6707248e6b9d44','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp','{"seed": 7, "share": 1.0, "turn": 0, "versions": {"sklearn": "1.8.0"}}','standardize(center = true) >> knn(k = 6, note = "0")',2,0.006,'[0.006]','{"ber": 0.006, "features": 6.0}',6.0,NULL,NULL,NULL,NULL,NULL,0.5,5,2,0,'[]','20251116-025301-dolob','2025-11-16T02:53:03.000000Z','0.1.0',3314921057);
INSERT INTO "evaluations" VALUES('9490ec3c83a538ce665f0d63268d39b2f394afd8981c44692a859abd11152ff9','a8ea132e47c51c83afc361233d15b1a8680235af01eb6821e8faa4a665fdbf2d','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp','{"seed": 7, "share": 1.0, "turn": 0, "versions": {"sklearn": "1.8.0"}}','standardize(center = true) >> knn(k = 7, note = "0")',0,0.007,'[0.007]','{}',0.0,0.0035,NULL,NULL,NULL,NULL,0.1,2,0,3,'[]','20251116-025301-dolob','2025-11-16T02:53:03.000000Z','0.1.0',4064773249);
INSERT INTO "evaluations" VALUES('37f436f2f96912534cb98cbf48ded1c7e8e858dfebe4bf8697d00c84e31bb252','f51612103d22bf3d1c2456523181361d1b7313aad9f6ecd7b2e590c0c8f5decd','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp','{"seed": 7, "share": 1.0, "turn": 0, "versions": {"sklearn": "1.8.0"}}','standardize(center = true) >> knn(k = 8, note = "0")',2,0.008,'[0.008]','{"ber": 0.008, "features": 8.0}',8.0,NULL,NULL,NULL,NULL,NULL,0.5,5,2,0,'["did not converge"]','20251116-025301-dolob','2025-11-16T02:53:03.000000Z','0.1.0',2983599406);
INSERT INTO "evaluations" VALUES('170f4afa3b50ade443ea5f803489591905788e951014a8467ad70d8e5f45278e','0f5adf930c6879f3cb8066901ace31d4a60ea691f5a91f1dd5e356bb16a82140','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp','{"seed": 7, "share": 1.0, "turn": 0, "versions": {"sklearn": "1.8.0"}}','standardize(center = true) >> knn(k = 9, note = "0")',2,0.009,'[0.009]','{"ber": 0.009, "features": 9.0}',9.0,NULL,NULL,NULL,NULL,NULL,0.5,5,2,0,'[]','20251116-025301-dolob','2025-11-16T02:53:03.000000Z','0.1.0',1190825808);
CREATE TABLE events (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, position INTEGER, at TEXT NOT NULL,
    kind TEXT NOT NULL, figures TEXT NOT NULL, checksum INTEGER NOT NULL,
    UNIQUE (run, position)
);
INSERT INTO "events" VALUES('20251116-025301-dolob',0,'2025-11-16T02:53:05.000000Z','iteration','{"best": 0.5}',3479568853);
INSERT INTO "events" VALUES('20251116-025301-dolob',NULL,'2025-11-16T02:53:07.000000Z','time is up','{}',685763903);
CREATE TABLE runs (
    id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, spec TEXT NOT NULL,
    space_digest TEXT NOT NULL, run_digest TEXT NOT NULL, data_digest TEXT NOT NULL,
    evaluation_digest TEXT NOT NULL, search_digest TEXT NOT NULL,
    seed TEXT NOT NULL, versions TEXT NOT NULL, options TEXT NOT NULL, status TEXT NOT NULL,
    started TEXT NOT NULL, ended TEXT, seen TEXT NOT NULL,
    host TEXT NOT NULL, pid INTEGER NOT NULL, born TEXT NOT NULL, result TEXT NOT NULL,
    checksum INTEGER NOT NULL
);
INSERT INTO "runs" VALUES('20251116-025301-dolob','psms','psms.msl','962cbbf79c304f76751646121ecfd79e64b0959908fda5065dcf24b93d5ee56f','7f6a07a958e4790c43f8946bc14eb35dd60ce512ed1111519a5a3ac4c0950755','25a7912b039d0f54b36cf63c75b84b59f71c0af70d02015968809caec9f8cfcf','39f206ae4d3aa842950bb809a83cc71dd75a6b2adf820a8c6d8f1d96883fe2bf','7c95bf1bf75d2da111d944e2742def4943d18a1414cea9a335485db0655c4bb0','7','{"msl": "0.1.0"}','{"jobs": 2}','finished','2025-11-16T02:53:01.000000Z','2025-11-16T02:53:08.000000Z','2025-11-16T02:53:09.000000Z','host.example',4242,'boot:1','{"best": "knn(k = 1)"}',1004035751);
CREATE TABLE sources (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, path TEXT NOT NULL, digest TEXT NOT NULL,
    UNIQUE (run, path)
);
INSERT INTO "sources" VALUES('20251116-025301-dolob','psms.msl','ef6d1d6723e769ce1d60c584464a1f372e0516e4bb8ecc0487bb30a538494e12');
INSERT INTO "sources" VALUES('20251116-025301-dolob','clop','d503da986e413ba87e8a8aa2c0005e8fdeade623c317928021501b5bf10955c7');
CREATE TABLE texts (digest TEXT PRIMARY KEY NOT NULL, text TEXT NOT NULL);
INSERT INTO "texts" VALUES('ef6d1d6723e769ce1d60c584464a1f372e0516e4bb8ecc0487bb30a538494e12','msl 1
use clop

chain psms = knn
');
INSERT INTO "texts" VALUES('d503da986e413ba87e8a8aa2c0005e8fdeade623c317928021501b5bf10955c7','block knn = …
');
CREATE INDEX runs_by_digest ON runs (run_digest);
CREATE INDEX evaluations_by_protocol ON evaluations (data, protocol)
;
COMMIT;
