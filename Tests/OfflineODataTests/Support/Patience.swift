import Foundation
import Testing

/// How patient the tests are with the machine.
enum Patience {
    /// How long a test that must not hang may take. It ends what hangs, and says nothing of how fast anything is: instrumented
    /// code (`scripts/sanitize.sh`) is many times slower, and so is a machine that builds beside the tests.
    static let limit: TimeLimitTrait = .timeLimit(.minutes(20))

    /// Whether the tests run in instrumented code.
    static let isInstrumented = ProcessInfo.processInfo.environment["OUTPOST_SANITIZER"] != nil

    /// How much longer than in a release build on a machine of its own something may take.
    static let factor = isInstrumented ? 200 : 20
}
