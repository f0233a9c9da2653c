package org.slf4j.impl;

import connectcore.HostLogger;
import org.slf4j.ILoggerFactory;
import org.slf4j.spi.LoggerFactoryBinder;

/** Where SLF4J 1.7 looks for its implementation. */
public final class StaticLoggerBinder implements LoggerFactoryBinder {
    /** The version of SLF4J's interface that this was compiled for; not a constant, so that it is not copied. */
    public static String REQUESTED_API_VERSION = "1.7.36";

    private static final StaticLoggerBinder SINGLETON = new StaticLoggerBinder();

    private final ILoggerFactory factory = HostLogger.factory();

    private StaticLoggerBinder() {}

    public static StaticLoggerBinder getSingleton() {
        return SINGLETON;
    }

    @Override
    public ILoggerFactory getLoggerFactory() {
        return factory;
    }

    @Override
    public String getLoggerFactoryClassStr() {
        return HostLogger.class.getName();
    }
}
