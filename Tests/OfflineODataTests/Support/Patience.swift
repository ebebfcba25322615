import Foundation
import Testing

/// The time limits of tests.
enum Patience {
    /// The limit of a test that could hang. The limit is no measure of speed: instrumented code
    /// (`scripts/sanitize.sh`) and busy machines are many times slower.
    static let limit: TimeLimitTrait = .timeLimit(.minutes(20))

    /// Whether the tests run in instrumented code.
    static let isInstrumented = ProcessInfo.processInfo.environment["OUTPOST_SANITIZER"] != nil

    /// The factor on durations, compared with a release build on an idle machine.
    static let factor = isInstrumented ? 200 : 20
}
