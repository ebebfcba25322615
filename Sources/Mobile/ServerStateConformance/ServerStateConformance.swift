import ErrorCodes
import ServerState

/// The promises of `ServerState` as named cases, which every driver keeps.
///
/// ```swift
/// for conformanceCase in ServerStateConformance.cases {
///     try await conformanceCase.run { clock in
///         let state = try SQLiteServerState.inMemory { clock.now }
///         _ = try await state.migrate(dryRun: false)
///         return state
///     }
/// }
/// ```
public enum ServerStateConformance {
    /// A closure that makes an empty, migrated state, whose clock the suite moves.
    public typealias Maker = @Sendable (ConformanceClock) async throws -> any ServerState

    /// A promise.
    public struct Case: Sendable, CustomStringConvertible {
        /// The promise as a sentence.
        public let name: String
        private let body: @Sendable (Bench) async throws -> Void

        init(_ name: String, _ body: @escaping @Sendable (Bench) async throws -> Void) {
            self.name = name
            self.body = body
        }

        /// Checks the promise with an empty state.
        ///
        /// - Throws: ``ServerStateViolation``, or an error of the state.
        public func run(_ make: Maker) async throws {
            let clock = ConformanceClock()
            let state = try await make(clock)
            do {
                try await body(Bench(state: state, clock: clock))
            } catch {
                await state.close()
                throw error
            }
            await state.close()
        }

        /// The name.
        public var description: String { name }
    }

    /// All promises.
    public static let cases: [Case] =
        numbers + applications + users + registrations + settings + jobs + replays + feedReads + feedWrites + operators

    /// The state and the clock of a case.
    struct Bench: Sendable {
        let state: any ServerState
        let clock: ConformanceClock

        /// Adds an application.
        func application(_ name: String = "shop") async throws -> ApplicationRecord {
            try await state.applications.add(named: name, title: name, domain: "default", state: .active)
        }

        /// Adds a user.
        func user(
            _ subject: String = "ann", of application: ApplicationRecord, issuer: String = "basic:local"
        ) async throws -> UserRecord {
            let user = try await state.registrations.user(
                of: application.id, issuer: issuer, subject: subject, makingWith: subject)
            return try unwrap(user, "a user is made")
        }
    }
}

/// A broken promise.
public struct ServerStateViolation: Error, Hashable, Sendable, CustomStringConvertible {
    /// The promise that does not hold.
    public var description: String
}

extension ServerStateViolation: CodedError {
    /// The code `state.conformance`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "state.conformance") }
    /// Always `FailureKind.service`.
    public var failureKind: FailureKind { .service }
}

func require(_ holds: Bool, _ promise: String) throws {
    guard holds else { throw ServerStateViolation(description: promise) }
}

func require<Value: Equatable>(_ value: Value, is expected: Value, _ promise: String) throws {
    guard value == expected else {
        throw ServerStateViolation(description: "\(promise): expected \(expected), found \(value)")
    }
}

func unwrap<Value>(_ value: Value?, _ promise: String) throws -> Value {
    guard let value else { throw ServerStateViolation(description: promise) }
    return value
}

/// Requires that an operation throws an error of one kind.
func refused<Value>(
    _ promise: String, with code: String, _ body: () async throws(ServerStateError) -> Value
) async throws {
    do throws(ServerStateError) {
        _ = try await body()
    } catch {
        return try require(error.errorCode.rawValue, is: "state.\(code)", promise)
    }
    throw ServerStateViolation(description: "\(promise): nothing was thrown")
}
