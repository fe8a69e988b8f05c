-- The end of an id is as good as random: an index by it alone is written at another place with each
-- job, a page that is not in memory. By the thousand of jobs that it came in, and by its end within
-- that, it is written where the last ones were; who looks one up asks each thousand, the latest first.
DROP INDEX jobs_id_reversed;
CREATE INDEX jobs_tail ON jobs (number >> 10, id_reversed);
