"""Apache Spark: sessions, the code sent to them, and a job whose partitions are the tasks of an interval."""
