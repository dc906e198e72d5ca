"""Run evaluations: in this process, in local worker processes, or on a Dask cluster.

What others use:

- Which executor does `--on` name? -> `local.open_executor`
- What is submitted, within which limits? -> `task.Job`, `task.Task`, `task.Limits`
- What may be expected of any executor? -> `executor.Executor`
- How is a Dask scheduler addressed, with or without TLS? -> `dask_address.Scheduler`
- How much memory does a process hold? -> `measure_memory`

Inside: `in_process` runs tasks here; `local` starts a `pool` of workers through a `fork_server` (`fork_server_process`
is what runs in it); `worker` is the code of such a process, `worker_handle` the pool's view of it; `shared_arrays` lets
all of them map one table; `dask` and `dask_worker` are the two ends of a cluster.
"""
