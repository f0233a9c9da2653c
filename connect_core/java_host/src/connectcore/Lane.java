package connectcore;

/** One object of a plugin that the other side works with: a connector, a task, a chain. */
interface Lane {
    /** Does what a request asks for; null: nothing to tell but that it is done. */
    Frame handle(String op, Frame request) throws Throwable;

    /** Ends what the plugin does; called once, from any thread. */
    void stop() throws Exception;
}
