import Foundation
import Testing

/// How long a test that must not hang may take: instrumented code (`scripts/sanitize.sh`) is many times slower.
enum Patience {
    static let limit: TimeLimitTrait =
        .timeLimit(.minutes(ProcessInfo.processInfo.environment["OUTPOST_SANITIZER"] == nil ? 2 : 20))

    /// How much longer than in a release build on a machine of its own something may take.
    static let factor = ProcessInfo.processInfo.environment["OUTPOST_SANITIZER"] == nil ? 20 : 200
}
