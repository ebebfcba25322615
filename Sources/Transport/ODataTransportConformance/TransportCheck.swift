/// One thing that every transport does, and how it is seen.
///
/// ```swift
/// @Test(.serialized, arguments: TransportCheck.all)
/// func conforms(check: TransportCheck) async throws {
///     try await check.run(on: TransportSubject { idle in try MyTransport(idleTimeout: idle) })
/// }
/// ```
///
/// Run one after the other: some move more than a hundred megabytes, and others wait for no longer than some seconds.
public struct TransportCheck: Sendable, CustomStringConvertible {
    /// What is checked, as a sentence.
    public let name: String
    /// What a transport must be able to do for it.
    public let needs: Set<TransportAbility>
    private let check: @Sendable (TransportSubject) async throws -> Void

    /// Makes a check.
    init(
        _ name: String, needs: Set<TransportAbility> = [],
        check: @escaping @Sendable (TransportSubject) async throws -> Void
    ) {
        self.name = name
        self.needs = needs
        self.check = check
    }

    /// The sentence.
    public var description: String { name }

    /// All checks.
    public static let all: [TransportCheck] = messages + bodies + failures + limits + options

    /// The checks that a transport with these abilities passes.
    public static func all(for abilities: Set<TransportAbility>) -> [TransportCheck] {
        all.filter { $0.needs.isSubset(of: abilities) }
    }

    /// Runs the check.
    ///
    /// - Parameter limit: how long it may take; a transport that hangs fails.
    /// - Throws: ``ConformanceFailure`` when the transport does something else, and what the transport throws where it
    ///   should not.
    public func run(on subject: TransportSubject, limit: Duration = .seconds(180)) async throws {
        let (results, report) = AsyncStream.makeStream(of: Result<Void, any Error>.self)
        // Tasks of their own: what hangs may not listen to being cancelled either.
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

/// Something that not every transport can do.
public enum TransportAbility: Sendable, Hashable, CaseIterable {
    /// Its messages go over sockets.
    case sockets
    /// Request bodies are sent while they are produced.
    case streamsUploads
    /// A response is given when its head has arrived, and its body is read as it is pulled.
    case streamsDownloads
    /// A reader that lags behind holds the service back.
    case holdsBack
    /// gzip and deflate are undone.
    case unpacks
    /// Leaving a body unread closes the connection at once.
    case closesUnread
    /// A body that is shorter than announced is told from a whole one.
    case noticesTruncation
    /// The moments of connecting, sending and receiving are told.
    case tellsMoments
    /// Silence within a body ends it.
    case timesOutWithinBody
    /// An answer of several fields of one name is given as several.
    case keepsRepeatedFields
    /// Cookies of several fields go as one field over HTTP/1.1.
    case joinsCookies
}

/// A transport that does not do what transports do.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
    /// What was expected, and what came.
    public let description: String

    init(_ description: String) { self.description = description }
}

/// Fails unless something holds.
func expect(_ holds: Bool, _ message: @autoclosure () -> String) throws(ConformanceFailure) {
    guard holds else { throw ConformanceFailure(message()) }
}

/// Fails unless two things are equal.
func expect<Value: Equatable>(_ value: Value, is expected: Value, _ what: String) throws(ConformanceFailure) {
    guard value == expected else { throw ConformanceFailure("\(what): \(expected) was expected, \(value) came") }
}

/// Waits until something holds, at most for a while.
func eventually(
    within limit: Duration = .seconds(60), _ what: @autoclosure () -> String, _ holds: @Sendable () async -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    while !(await holds()) {
        guard ContinuousClock.now < end else { throw ConformanceFailure("not within \(limit): \(what())") }
        try await Task.sleep(for: .milliseconds(10))
    }
}
