/// Measures the time without contact to the server, so that nobody extends it by setting the clock back.
///
/// The record holds the last contact and the time that has passed since, by the clock of the running device. Within one
/// run of the device the elapsed time counts. Across a restart the larger of two counts: the time that was measured
/// before it and in this run, and the difference of the wall clocks.
struct OfflineTime: Codable, Sendable, Equatable {
    /// The wall clock at the last contact, in seconds since 1970.
    var contactAt: Double
    /// The run of the device at the last observation.
    var boot: String
    /// The elapsed time of that run at the last observation.
    var elapsedAt: Double
    /// The seconds without contact up to the last observation.
    var passed: Double

    /// Notes a contact.
    init(at clock: MobileClock) {
        contactAt = clock.now()
        boot = clock.boot()
        elapsedAt = clock.elapsed()
        passed = 0
    }

    /// Notes the present time, and returns the seconds without contact.
    mutating func observe(_ clock: MobileClock) -> Double {
        let (elapsed, wall, run) = (clock.elapsed(), clock.now(), clock.boot())
        if run == boot, !run.isEmpty, elapsed >= elapsedAt {
            passed += elapsed - elapsedAt
        } else {
            // The device was off for a time that only the wall clock can tell.
            passed = max(passed + max(0, elapsed), wall - contactAt)
        }
        (boot, elapsedAt) = (run, elapsed)
        return passed
    }

    /// Returns the demand of a limit at a time without contact.
    static func demand(
        _ limit: PolicySnapshot.OfflineLimit, after seconds: Double
    ) -> PolicySnapshot.Lock.State {
        if limit.wipeDays > 0, seconds > Double(limit.wipeDays) * 86_400 { return .wipe }
        if limit.lockDays > 0, seconds > Double(limit.lockDays) * 86_400 { return .lock }
        return .none
    }
}
