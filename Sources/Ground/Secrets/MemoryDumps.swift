#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
    import CLinux
#else
    import Glibc
    import CLinux
#endif

/// Protection of the process memory, including keys, against being written to files after a crash.
public enum MemoryDumps {
    /// Forbids core dumps of this process. On Linux, also prevents other processes of the same user from
    /// reading its memory.
    ///
    /// A program that handles secrets should call this function first. The hard limit is lowered too, so the
    /// effect cannot be undone by accident. Afterwards only root can attach a debugger. Swap is not covered:
    /// use encrypted swap, or none, if memory must not be written to the disk.
    ///
    /// - Returns: Whether the system accepted the request.
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
