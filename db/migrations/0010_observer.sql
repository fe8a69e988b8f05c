-- Where the counters of an attempt's ledgers come from, and what the daemon and the runner did inside
-- timed intervals. NULL: there is no such counter on this host.
ALTER TABLE attempts ADD COLUMN observer_busy TEXT;
ALTER TABLE attempts ADD COLUMN busy_resolution_ns INTEGER;
ALTER TABLE attempts ADD COLUMN observer_lane TEXT;
ALTER TABLE attempts ADD COLUMN observer_delay TEXT;
ALTER TABLE attempts ADD COLUMN observer_steal TEXT;
ALTER TABLE attempts ADD COLUMN steal_resolution_ns INTEGER;
ALTER TABLE attempts ADD COLUMN observer_pressure TEXT;
ALTER TABLE attempts ADD COLUMN observer_throttle TEXT;
ALTER TABLE attempts ADD COLUMN observer_swap TEXT;
ALTER TABLE attempts ADD COLUMN observer_memory TEXT; -- of the runner: 'locked'

ALTER TABLE observations ADD COLUMN runner_switches INTEGER;
ALTER TABLE observations ADD COLUMN daemon_cpu_ns INTEGER;
ALTER TABLE observations ADD COLUMN daemon_switches INTEGER;
