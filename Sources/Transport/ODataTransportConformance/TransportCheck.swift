/// A check of one behaviour that every transport has.
///
/// ```swift
/// @Test(.serialized, arguments: TransportCheck.all)
/// func conforms(check: TransportCheck) async throws {
///     try await check.run(on: TransportSubject { idle in try MyTransport(idleTimeout: idle) })
/// }
/// ```
///
/// Run the checks one after the other: some transfer more than a hundred megabytes, and others depend on
/// timeouts of a few seconds.
public struct TransportCheck: Sendable, CustomStringConvertible {
    /// The checked behaviour as a sentence.
    public let name: String
    /// The abilities that a transport needs for the check.
    public let needs: Set<TransportAbility>
    private let check: @Sendable (TransportSubject) async throws -> Void

    init(
        _ name: String, needs: Set<TransportAbility> = [],
        check: @escaping @Sendable (TransportSubject) async throws -> Void
    ) {
        self.name = name
        self.needs = needs
        self.check = check
    }

    /// The checked behaviour as a sentence.
    public var description: String { name }

    /// All checks, with any needs.
    public static let all: [TransportCheck] = messages + bodies + failures + limits + options

    /// Returns the checks for a transport with the given abilities.
    public static func all(for abilities: Set<TransportAbility>) -> [TransportCheck] {
        all.filter { $0.needs.isSubset(of: abilities) }
    }

    /// Runs the check.
    ///
    /// - Parameter limit: The time after which a transport that hangs fails.
    /// - Throws: ``ConformanceFailure`` if the transport behaves differently, and unexpected errors of the
    ///   transport.
    public func run(on subject: TransportSubject, limit: Duration = .seconds(180)) async throws {
        let (results, report) = AsyncStream.makeStream(of: Result<Void, any Error>.self)
        // Unstructured tasks are used, because a hanging transport may ignore cancellation.
        let work = Task {
            do {
                report.yield(.success(try await check(subject)))
            } catch {
                report.yield(.failure(error))
            }
        }
        let timer = Task {
            try await Task.sleep(for: limit)
            report.yield(.failure(ConformanceFailure("it hangs: \(name)")))
        }
        defer {
            work.cancel()
            timer.cancel()
        }
        for await result in results { return try result.get() }
    }
}

/// An ability that not every transport has.
public enum TransportAbility: Sendable, Hashable, CaseIterable {
    /// Messages are sent over sockets.
    case sockets
    /// Request bodies are sent while they are produced.
    case streamsUploads
    /// A response is returned when its head has arrived, and its body is read on demand.
    case streamsDownloads
    /// A slow reader slows down the service.
    case holdsBack
    /// The codings gzip and deflate are decoded.
    case unpacks
    /// Discarding an unread body closes the connection at once.
    case closesUnread
    /// A truncated body is distinguished from a complete one.
    case noticesTruncation
    /// The times of connecting, sending and receiving are reported.
    case tellsMoments
    /// Silence within a body is a timeout.
    case timesOutWithinBody
    /// Several response fields of one name are returned separately.
    case keepsRepeatedFields
    /// Several cookie fields are sent as one field over HTTP/1.1.
    case joinsCookies
}

/// The failure of a conformance check.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
    /// The expected and the actual behaviour.
    public let description: String

    init(_ description: String) { self.description = description }
}

func expect(_ holds: Bool, _ message: @autoclosure () -> String) throws(ConformanceFailure) {
    guard holds else { throw ConformanceFailure(message()) }
}

func expect<Value: Equatable>(_ value: Value, is expected: Value, _ what: String) throws(ConformanceFailure) {
    guard value == expected else { throw ConformanceFailure("\(what): \(expected) was expected, \(value) came") }
}

/// Waits until a condition holds, up to a limit.
func eventually(
    within limit: Duration = .seconds(60), _ what: @autoclosure () -> String, _ holds: @Sendable () async -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    while !(await holds()) {
        guard ContinuousClock.now < end else { throw ConformanceFailure("not within \(limit): \(what())") }
        try await Task.sleep(for: .milliseconds(10))
    }
}
