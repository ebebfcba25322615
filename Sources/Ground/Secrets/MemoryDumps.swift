#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
    import CLinux
#else
    import Glibc
    import CLinux
#endif

/// Keeps the memory of the process, keys included, out of files that the system writes when it crashes.
public enum MemoryDumps {
    /// Forbids core dumps of this process and, on Linux, that other processes of the same user look into it.
    ///
    /// A program that handles secrets calls it once, first thing. It cannot be undone by accident: the hard
    /// limit is lowered too. A debugger cannot attach afterwards, except as root. Swap is not covered: a
    /// machine that must not write memory to its disk encrypts its swap, or has none.
    ///
    /// - Returns: Whether the system agreed.
    @discardableResult
    public static func forbid() -> Bool {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        #if canImport(Darwin)
            return setrlimit(RLIMIT_CORE, &limit) == 0
        #else
            #if canImport(Musl)
                let isLimited = setrlimit(RLIMIT_CORE, &limit) == 0
            #else
                let isLimited = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0
            #endif
            return outpost_forbid_dumps() == 0 && isLimited
        #endif
    }
}
