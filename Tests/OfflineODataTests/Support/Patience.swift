import Foundation
import Testing

/// How long a test that must not hang may take: instrumented code (`scripts/sanitize.sh`) is many times slower.
enum Patience {
    static let limit: TimeLimitTrait = .timeLimit(.minutes(isInstrumented ? 20 : 2))

    /// Whether the tests run in instrumented code.
    static let isInstrumented = ProcessInfo.processInfo.environment["OUTPOST_SANITIZER"] != nil

    /// How much longer than in a release build on a machine of its own something may take.
    static let factor = isInstrumented ? 200 : 20
}
