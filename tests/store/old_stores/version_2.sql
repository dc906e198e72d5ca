PRAGMA application_id = 1297304625;
PRAGMA user_version = 2;
BEGIN TRANSACTION;
CREATE TABLE asks (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, position INTEGER NOT NULL,
    stage INTEGER NOT NULL, batch INTEGER NOT NULL, key TEXT, vector BLOB, beat REAL,
    losses TEXT NOT NULL, complexity REAL, bound INTEGER NOT NULL, checksum INTEGER NOT NULL,
    UNIQUE (run, position)
);
INSERT INTO "asks" VALUES('20251116-025301-dolob',0,0,0,'e8de5dd2be510f5f364c3fbb2fbd09db878591fec057b81e4d2f2160b3bfbfb5',X'00000000000000009A9999999999B93F',NULL,'[0.0]',0.0,0,696515773);
INSERT INTO "asks" VALUES('20251116-025301-dolob',1,0,0,'cf484ae5e3871c6d0127c5734ba045349fad39225e780e11394e73abe22daa63',X'922449922449C23F9A9999999999B93F',NULL,'[0.001]',1.0,0,361628916);
INSERT INTO "asks" VALUES('20251116-025301-dolob',2,0,0,'c652a80072b8c71d9bfadb334a563c5bb7bcb9b3de8dd442bcc6242ce9263129',X'922449922449D23F9A9999999999B93F',NULL,'[0.002]',2.0,0,2284376334);
INSERT INTO "asks" VALUES('20251116-025301-dolob',3,0,0,'eeb163cdab182ca6a86d023de602898f03b3c2b2fd1feecf9aa3cb1d53d742ec',X'DBB66DDBB66DDB3F9A9999999999B93F',NULL,'[Infinity]',0.0,0,2298002827);
INSERT INTO "asks" VALUES('20251116-025301-dolob',4,0,0,'b98d4a728308babd6aa8ad0811ec0f3c9e9f0c3b28559438a5d50e70e1d9a193',X'922449922449E23F9A9999999999B93F',NULL,'[0.004]',4.0,0,4028190648);
INSERT INTO "asks" VALUES('20251116-025301-dolob',5,0,1,'03029c6f18ef576c67e60b8f831610700a3c861f3ce0bd279dc2f8d85a9f3729',X'B76DDBB66DDBE63F9A9999999999B93F',NULL,'[0.005]',5.0,0,3963133106);
INSERT INTO "asks" VALUES('20251116-025301-dolob',6,0,1,'ffc992df4cf25bc0ca8018f26a5d4dc12e8385ef1d151682a162e0befb0ffb93',X'DBB66DDBB66DEB3F9A9999999999B93F',NULL,'[0.006]',6.0,0,1546898622);
INSERT INTO "asks" VALUES('20251116-025301-dolob',7,0,1,'ab0cfbe427ad37d90441c90b903e38a16c631e2c90919090f1fe95ae204baf92',X'000000000000F03F9A9999999999B93F',0.0035,'[0.007]',0.0,1,4001019699);
INSERT INTO "asks" VALUES('20251116-025301-dolob',8,0,1,'63b3a561f23fbafd019988692ef8240fd243985be77132d244d5ad125f18c1f0',X'922449922449F23F9A9999999999B93F',NULL,'[0.008]',8.0,0,4005825333);
INSERT INTO "asks" VALUES('20251116-025301-dolob',9,0,1,'6bf02ca7375ce35684804eab26b8d56a2374cb6304e1167516a0cde91f607421',X'254992244992F43F9A9999999999B93F',NULL,'[0.009]',9.0,0,1546884239);
CREATE TABLE evaluations (
    key TEXT PRIMARY KEY NOT NULL, model TEXT NOT NULL, data TEXT NOT NULL, protocol TEXT NOT NULL,
    question TEXT NOT NULL, text TEXT NOT NULL,
    grade INTEGER NOT NULL, loss REAL NOT NULL, losses TEXT NOT NULL, measures TEXT NOT NULL,
    complexity REAL, beat REAL, cause TEXT, message TEXT, step TEXT, peak_memory INTEGER,
    seconds REAL NOT NULL, fits INTEGER NOT NULL, fits_saved INTEGER NOT NULL, folds_skipped INTEGER NOT NULL,
    warnings TEXT NOT NULL, run TEXT, created TEXT NOT NULL, tool TEXT NOT NULL, checksum INTEGER NOT NULL
);
INSERT INTO "evaluations" VALUES('e8de5dd2be510f5f364c3fbb2fbd09db878591fec057b81e4d2f2160b3bfbfb5','374607ea4d6453e77daa73f6657d67704ce9f0c172ede08ee868357e209c6317','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp','{"seed": 7, "share": 1.0, "turn": 0, "versions": {"sklearn": "1.8.0"}}','standardize(center = true) >> knn(k = 0, note = "0")',2,0.0,'[0.0]','{"ber": 0.0, "features": 0.0}',0.0,NULL,NULL,NULL,NULL,NULL,0.5,5,2,0,'["did not converge"]','20251116-025301-dolob','2025-11-16T02:53:02.000000Z','0.1.0',3815703030);
INSERT INTO "evaluations" VALUES('cf484ae5e3871c6d0127c5734ba045349fad39225e780e11394e73abe22daa63','a28d2c57cf8c79f0648fa7f046346653fa0873db342817da21c589a44c886bb6','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp','{"seed": 7, "share": 1.0, "turn": 0, "versions": {"sklearn": "1.8.0"}}','standardize(center = true) >> knn(k = 1, note = "0")',2,0.001,'[0.001]','{"ber": 0.001, "features": 1.0}',1.0,NULL,NULL,NULL,NULL,NULL,0.5,5,2,0,'[]','20251116-025301-dolob','2025-11-16T02:53:02.000000Z','0.1.0',1510638421);
INSERT INTO "evaluations" VALUES('c652a80072b8c71d9bfadb334a563c5bb7bcb9b3de8dd442bcc6242ce9263129','b418585c07fe3ac3d62572a35150b4b1d2dc350fff18aad11e91ee2f843219d0','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp','{"seed": 7, "share": 1.0, "turn": 0, "versions": {"sklearn": "1.8.0"}}','standardize(center = true) >> knn(k = 2, note = "0")',2,0.002,'[0.002]','{"ber": 0.002, "features": 2.0}',2.0,NULL,NULL,NULL,NULL,NULL,0.5,5,2,0,'[]','20251116-025301-dolob','2025-11-16T02:53:02.000000Z','0.1.0',2606870154);
INSERT INTO "evaluations" VALUES('eeb163cdab182ca6a86d023de602898f03b3c2b2fd1feecf9aa3cb1d53d742ec','dbbc7f90ff08998d00877b6fce0146ce0730a7c37b22474094873038c9a39b54','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp','{"seed": 7, "share": 1.0, "turn": 0, "versions": {"sklearn": "1.8.0"}}','standardize(center = true) >> knn(k = 3, note = "0")',1,1e999,'[Infinity]','{}',0.0,NULL,'memory','not enough memory','knn',1000003,1.5,1,0,0,'[]','20251116-025301-dolob','2025-11-16T02:53:02.000000Z','0.1.0',37762666);
INSERT INTO "evaluations" VALUES('b98d4a728308babd6aa8ad0811ec0f3c9e9f0c3b28559438a5d50e70e1d9a193','d0a1f4e9f2dd92c6d8d98dc9f1317a04d141b0d6f8eaa6173fa33e43f3bf3ca5','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp','{"seed": 7, "share": 1.0, "turn": 0, "versions": {"sklearn": "1.8.0"}}','standardize(center = true) >> knn(k = 4, note = "0")',2,0.004,'[0.004]','{"ber": 0.004, "features": 4.0}',4.0,NULL,NULL,NULL,NULL,NULL,0.5,5,2,0,'["did not converge"]','20251116-025301-dolob','2025-11-16T02:53:02.000000Z','0.1.0',417899548);
INSERT INTO "evaluations" VALUES('03029c6f18ef576c67e60b8f831610700a3c861f3ce0bd279dc2f8d85a9f3729','5b838d585974eb3da88254483654083e8d0a3a7abc336c3046466c6ef36086bd','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp','{"seed": 7, "share": 1.0, "turn": 0, "versions": {"sklearn": "1.8.0"}}','standardize(center = true) >> knn(k = 5, note = "0")',2,0.005,'[0.005]','{"ber": 0.005, "features": 5.0}',5.0,NULL,NULL,NULL,NULL,NULL,0.5,5,2,0,'[]','20251116-025301-dolob','2025-11-16T02:53:02.000000Z','0.1.0',496801125);
INSERT INTO "evaluations" VALUES('ffc992df4cf25bc0ca8018f26a5d4dc12e8385ef1d151682a162e0befb0ffb93','dcbdb4f6602d17d23084c424652d44cb37e3ab2028cf95051b6707248e6b9d44','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp','{"seed": 7, "share": 1.0, "turn": 0, "versions": {"sklearn": "1.8.0"}}','standardize(center = true) >> knn(k = 6, note = "0")',2,0.006,'[0.006]','{"ber": 0.006, "features": 6.0}',6.0,NULL,NULL,NULL,NULL,NULL,0.5,5,2,0,'[]','20251116-025301-dolob','2025-11-16T02:53:02.000000Z','0.1.0',1915631482);
INSERT INTO "evaluations" VALUES('ab0cfbe427ad37d90441c90b903e38a16c631e2c90919090f1fe95ae204baf92','a8ea132e47c51c83afc361233d15b1a8680235af01eb6821e8faa4a665fdbf2d','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp','{"seed": 7, "share": 1.0, "turn": 0, "versions": {"sklearn": "1.8.0"}}','standardize(center = true) >> knn(k = 7, note = "0")',0,0.007,'[0.007]','{}',0.0,0.0035,NULL,NULL,NULL,NULL,0.1,2,0,3,'[]','20251116-025301-dolob','2025-11-16T02:53:02.000000Z','0.1.0',1185474056);
INSERT INTO "evaluations" VALUES('63b3a561f23fbafd019988692ef8240fd243985be77132d244d5ad125f18c1f0','f51612103d22bf3d1c2456523181361d1b7313aad9f6ecd7b2e590c0c8f5decd','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp','{"seed": 7, "share": 1.0, "turn": 0, "versions": {"sklearn": "1.8.0"}}','standardize(center = true) >> knn(k = 8, note = "0")',2,0.008,'[0.008]','{"ber": 0.008, "features": 8.0}',8.0,NULL,NULL,NULL,NULL,NULL,0.5,5,2,0,'["did not converge"]','20251116-025301-dolob','2025-11-16T02:53:02.000000Z','0.1.0',2541657068);
INSERT INTO "evaluations" VALUES('6bf02ca7375ce35684804eab26b8d56a2374cb6304e1167516a0cde91f607421','0f5adf930c6879f3cb8066901ace31d4a60ea691f5a91f1dd5e356bb16a82140','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp','{"seed": 7, "share": 1.0, "turn": 0, "versions": {"sklearn": "1.8.0"}}','standardize(center = true) >> knn(k = 9, note = "0")',2,0.009,'[0.009]','{"ber": 0.009, "features": 9.0}',9.0,NULL,NULL,NULL,NULL,NULL,0.5,5,2,0,'[]','20251116-025301-dolob','2025-11-16T02:53:02.000000Z','0.1.0',293675091);
CREATE TABLE events (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, position INTEGER, at TEXT NOT NULL,
    kind TEXT NOT NULL, figures TEXT NOT NULL, checksum INTEGER NOT NULL,
    UNIQUE (run, position)
);
INSERT INTO "events" VALUES('20251116-025301-dolob',0,'2025-11-16T02:53:04.000000Z','iteration','{"best": 0.5}',661754228);
INSERT INTO "events" VALUES('20251116-025301-dolob',NULL,'2025-11-16T02:53:07.000000Z','time is up','{}',685763903);
CREATE TABLE outputs (key TEXT PRIMARY KEY NOT NULL, size INTEGER NOT NULL, content BLOB, checksum INTEGER NOT NULL);
INSERT INTO "outputs" VALUES('cf484ae5e3871c6d0127c5734ba045349fad39225e780e11394e73abe22daa63',35,X'010100010101000100000091030C9C0C00000000000000780163606480430000300007',4180551868);
INSERT INTO "outputs" VALUES('c652a80072b8c71d9bfadb334a563c5bb7bcb9b3de8dd442bcc6242ce9263129',35,X'010100010101000100000091030C9C0C00000000000000780163606480430000300007',1457791600);
CREATE TABLE runs (
    id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, spec TEXT NOT NULL,
    space_digest TEXT NOT NULL, run_digest TEXT NOT NULL, data_digest TEXT NOT NULL,
    evaluation_digest TEXT NOT NULL, search_digest TEXT NOT NULL,
    seed TEXT NOT NULL, versions TEXT NOT NULL, options TEXT NOT NULL, status TEXT NOT NULL,
    started TEXT NOT NULL, ended TEXT, seen TEXT NOT NULL,
    host TEXT NOT NULL, pid INTEGER NOT NULL, born TEXT NOT NULL, result TEXT NOT NULL,
    checksum INTEGER NOT NULL
);
INSERT INTO "runs" VALUES('20251116-025301-dolob','psms','psms.msl','962cbbf79c304f76751646121ecfd79e64b0959908fda5065dcf24b93d5ee56f','7f6a07a958e4790c43f8946bc14eb35dd60ce512ed1111519a5a3ac4c0950755','25a7912b039d0f54b36cf63c75b84b59f71c0af70d02015968809caec9f8cfcf','39f206ae4d3aa842950bb809a83cc71dd75a6b2adf820a8c6d8f1d96883fe2bf','7c95bf1bf75d2da111d944e2742def4943d18a1414cea9a335485db0655c4bb0','7','{"msl": "0.1.0"}','{"jobs": 2}','finished','2025-11-16T02:53:01.000000Z','2025-11-16T02:53:08.000000Z','2025-11-16T02:53:09.000000Z','vm',21983,'e70bedf6:159700','{"best": "knn"}',3014172983);
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
