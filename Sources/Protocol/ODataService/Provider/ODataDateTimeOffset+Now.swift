import ODataModel

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

extension ODataDateTimeOffset {
    /// The current time in UTC, in microseconds.
    package static var current: ODataDateTimeOffset {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return ODataDateTimeOffset(
            seconds: Int64(time.tv_sec), picoseconds: Int64(time.tv_nsec) / 1000 * 1_000_000)
    }
}
