"""JDBC connectors: any SQLAlchemy database as a source and as a target."""
