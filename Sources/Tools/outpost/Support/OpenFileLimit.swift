import Foundation

/// How many files and connections this process may have open at once.
enum OpenFileLimit {
    #if canImport(Darwin)
        private static let resource = RLIMIT_NOFILE
    #else
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #endif

    /// Raises the limit to the maximum of the system: a thousand connections reach the usual one.
    static func raise() {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        // Where this is refused, the old limit simply stays.
        _ = setrlimit(resource, &limit)
    }
}
