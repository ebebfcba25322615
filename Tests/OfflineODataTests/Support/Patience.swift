import Foundation
import Testing

/// How long a test that must not hang may take: instrumented code (`scripts/sanitize.sh`) is many times slower.
enum Patience {
    static let limit: TimeLimitTrait =
        .timeLimit(.minutes(ProcessInfo.processInfo.environment["OUTPOST_SANITIZER"] == nil ? 2 : 20))
}
