"""Apache Spark: sessions, the code they are given, and a job whose partitions are the tasks of an interval."""
