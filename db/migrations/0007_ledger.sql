-- The disturbance ledger of each observation, and the repetitions that take the place of disturbed
-- ones. NULL: this host has no counter for it, it was not judged, or it replaces nothing.
ALTER TABLE plan_steps ADD COLUMN replaces INTEGER;

ALTER TABLE observations ADD COLUMN span_ns INTEGER;
ALTER TABLE observations ADD COLUMN lane_cpu_ns INTEGER;
ALTER TABLE observations ADD COLUMN observer_cpu_ns INTEGER;
ALTER TABLE observations ADD COLUMN near_foreign_ns INTEGER;
ALTER TABLE observations ADD COLUMN far_foreign_ns INTEGER;
ALTER TABLE observations ADD COLUMN steal_ns INTEGER;
ALTER TABLE observations ADD COLUMN lane_delay_ns INTEGER;
ALTER TABLE observations ADD COLUMN lane_preemptions INTEGER;
ALTER TABLE observations ADD COLUMN pressure_us INTEGER;
ALTER TABLE observations ADD COLUMN throttles INTEGER;
ALTER TABLE observations ADD COLUMN swapped_pages INTEGER;
ALTER TABLE observations ADD COLUMN disturbed TEXT; -- reasons with commas between; '': none
ALTER TABLE observations ADD COLUMN replaces INTEGER;
