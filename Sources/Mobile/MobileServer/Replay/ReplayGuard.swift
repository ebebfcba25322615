import Crypto
import Foundation
import HTTPTypes
import ODataHTTP
import ODataService
import ServerState

/// Executes a repeatable request once, although it may arrive several times (`mobile-server.md` 6.5 and 0.3,
/// `design-review.md` 4, 11 and 12).
struct ReplayGuard: Sendable {
    /// The greatest size of a stored body, in bytes.
    static let bodyLimit = 65_536
    /// The longest wait for a request that is under way.
    static let wait = Duration.seconds(10)

    let replays: any ReplayStore
    let node: String
    /// The time after which nobody forwards a request any more.
    let lease: Duration

    /// The identification of a request, and everything that must be equal in a repeat.
    struct Identification: Sendable {
        let key: ReplayKey
        let firstSent: ServerInstant
        let hash: [UInt8]
        /// Whether the back end can recognise a repeat itself, so that the request may be forwarded again.
        let isSafe: Bool
    }

    /// A response with its whole body.
    struct Answer: Sendable {
        var response: HTTPResponse
        var body: [UInt8]
        /// The finality of the responses within a batch; `nil` if that of the response itself counts.
        var inner: Finality?
    }

    /// Reads the fields of a repeatable request.
    ///
    /// - Parameters:
    ///   - owner: See ``owner(application:destination:registration:user:)``.
    ///   - content: The method, URL and body of all parts of the request.
    /// - Returns: `nil` if the request has none of the fields.
    /// - Throws: 400 if one of the fields is missing or cannot be read.
    static func identification(
        id: String?, firstSent: String?, owner: [UInt8], content: [[UInt8]], isSafe: Bool
    ) throws(ODataError) -> Identification? {
        if id == nil, firstSent == nil { return nil }
        guard let id, let firstSent, !id.isEmpty, id.utf8.count <= 256, let moment = seconds(of: firstSent) else {
            throw ODataError(
                status: 400, code: "InvalidProperty",
                message: "Repeatability-Request-ID and Repeatability-First-Sent, an HTTP date, go together.",
                target: "Repeatability-First-Sent", repeatabilityResult: .rejected)
        }
        let sent = ServerInstant(rawValue: moment * 1_000_000)
        return Identification(
            key: ReplayKey(owner: owner, requestID: id, firstSent: sent), firstSent: sent, hash: digest(of: content),
            isSafe: isSafe)
    }

    /// Returns the owner of requests: a digest, so that no name stands in the table.
    static func owner(application: String, destination: String, registration: String?, user: [String]) -> [UInt8] {
        digest(
            of: ([application, destination] + (registration.map { ["device", $0] } ?? ["user"] + user)).map {
                Array($0.utf8)
            })
    }

    private static func digest(of parts: [[UInt8]]) -> [UInt8] {
        var hash = SHA256()
        for part in parts {
            withUnsafeBytes(of: UInt64(part.count).bigEndian) { hash.update(bufferPointer: $0) }
            hash.update(data: Data(part))
        }
        return Array(hash.finalize())
    }

    /// The last second of the year 9999.
    private static let lastSecond: TimeInterval = 253_402_300_799

    private static func seconds(of text: String) -> Int64? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
        // A year of more digits is no HTTP date, and its moment would not fit into a number of microseconds.
        guard text.utf8.count <= 64, let seconds = formatter.date(from: text)?.timeIntervalSince1970.rounded(.down),
            (0...lastSecond).contains(seconds)
        else { return nil }
        return Int64(seconds)
    }

    // MARK: Executing

    /// Forwards a request, or returns its former response.
    ///
    /// The request is carried to its end even if the caller goes away (`design-review.md` 11).
    ///
    /// - Parameter forward: Sends the request. It throws ``NotSent`` if the request did not leave the server.
    /// - Throws: ``ODataError`` for a request that is not forwarded.
    func perform(
        _ identification: Identification, forward: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
        let request = ReplayRequest(
            key: identification.key, hash: identification.hash, firstSent: identification.firstSent, node: node,
            lease: lease)
        let end = ContinuousClock.now + Self.wait
        // Many copies of a request must not keep the state busy.
        var pause = Duration.milliseconds(50)
        while true {
            switch try await replays.begin(request) {
            case .forward(let fence):
                return try await Task { try await self.forwarded(identification, fence, forward: forward) }.value
            case .answered(let stored):
                guard let answer = Self.answer(stored) else { throw Self.outcomeUnknown }
                return answer
            case .underWay:
                guard ContinuousClock.now < end else {
                    throw ODataError(
                        status: 503, code: "Busy", message: "This request is being carried out.", retryAfter: 5)
                }
                try await Task.sleep(for: pause)
                pause = min(pause * 2, .seconds(1))
            case .outcomeUnknown:
                guard identification.isSafe else { throw Self.outcomeUnknown }
                return try await Task { try await forward() }.value
            case .mismatch:
                throw ODataError(
                    status: 400, code: "InvalidProperty", message: "Another request has this Repeatability-Request-ID.",
                    target: "Repeatability-Request-ID", repeatabilityResult: .rejected)
            case .expired:
                throw ODataError(
                    status: 412, code: "Conflict", message: "The request was first sent more than 50 days ago.",
                    repeatabilityResult: .rejected)
            case .fromFuture:
                throw ODataError(
                    status: 400, code: "InvalidProperty",
                    message: "Repeatability-First-Sent lies more than a day ahead.",
                    target: "Repeatability-First-Sent", repeatabilityResult: .rejected)
            }
        }
    }

    /// The request did not leave the server.
    struct NotSent: Error {
        let reason: ODataError
    }

    private func forwarded(
        _ identification: Identification, _ fence: Fence, forward: @Sendable () async throws -> Answer
    ) async throws -> Answer {
        CrashPoint.pass("replay-received")
        var answer: Answer
        do {
            answer = try await forward()
        } catch let error as NotSent {
            _ = try await replays.release(identification.key, fence: fence)
            throw error.reason
        } catch {
            // The request may have been carried out.
            try await settleUnknown(identification, fence)
            throw DestinationFailure.error(error)
        }
        CrashPoint.pass("replay-forwarded")
        switch answer.inner ?? Self.finality(of: answer.response.status.code, answer.body) {
        case .final:
            answer.response.headerFields[.repeatabilityResult] = "accepted"
            _ = try await replays.finish(identification.key, fence: fence, Self.stored(answer))
        case .nothingHappened: _ = try await replays.release(identification.key, fence: fence)
        case .unknown: try await settleUnknown(identification, fence)
        }
        CrashPoint.pass("replay-answered")
        return answer
    }

    /// Notes that nobody knows the outcome; a request that the back end recognises may be forwarded again.
    private func settleUnknown(_ identification: Identification, _ fence: Fence) async throws {
        if identification.isSafe {
            _ = try await replays.release(identification.key, fence: fence)
        } else {
            let (response, body) = DestinationFailure.response(Self.outcomeUnknown)
            let answer = Answer(response: response, body: try await body.collect(limit: Self.bodyLimit))
            _ = try await replays.finish(identification.key, fence: fence, Self.stored(answer))
        }
    }

    static let outcomeUnknown = ODataError(
        status: 409, code: "OutcomeUnknown",
        message: "Nobody knows whether this request was carried out. Look at the data before it is sent again.")

    /// The finality of a response: only a final one is stored.
    enum Finality: Int, Comparable, Sendable {
        case final, nothingHappened, unknown

        static func < (left: Finality, right: Finality) -> Bool { left.rawValue < right.rawValue }
    }

    /// Returns the finality of a response (`mobile-server.md` 0.3).
    static func finality(of status: Int, _ body: [UInt8]) -> Finality {
        switch status {
        case 200..<300: .final
        case 401, 408, 425, 429, 501: .nothingHappened
        case 409: ErrorMapping.code(in: body)?.text == "Busy" ? .nothingHappened : .final
        case 400..<500: .final
        default: .unknown
        }
    }

    // MARK: Stored responses

    private static func stored(_ answer: Answer) -> ReplayAnswer {
        let fields = answer.response.headerFields.filter {
            !["content-length", "date"].contains($0.name.canonicalName)
        }
        let text = fields.map { "\($0.name.rawName): \($0.value)" }.joined(separator: "\n")
        return ReplayAnswer(
            status: answer.response.status.code, fields: Array(text.utf8),
            body: answer.body.count <= bodyLimit ? answer.body : nil)
    }

    /// Returns a stored response. Its status is 204 if the body was too long to be kept: the change is done, and the
    /// device reads the entity.
    private static func answer(_ stored: ReplayAnswer) -> Answer? {
        var response = HTTPResponse(status: .init(code: stored.status))
        for line in String(decoding: stored.fields, as: UTF8.self).split(separator: "\n") {
            guard let colon = line.firstIndex(of: ":"), let name = HTTPField.Name(String(line[..<colon])) else {
                continue
            }
            let value = String(line[line.index(after: colon)...]).trimmingSpace()
            response.headerFields.append(HTTPField(name: name, value: value))
        }
        if stored.body == nil {
            response.status = .noContent
            response.headerFields[.contentType] = nil
        }
        return Answer(response: response, body: stored.body ?? [])
    }
}

extension HTTPField.Name {
    /// `Repeatability-Result`. The fallback is never used.
    static let repeatabilityResult = HTTPField.Name("Repeatability-Result") ?? .prefer
}

/// The owner of repeatable requests, under whom the state remembers them.
public enum RepeatableRequestOwner {
    /// Returns the digest of an owner: a registration, or a user without one. No name stands in the state.
    ///
    /// - Parameters:
    ///   - application: The name of the application.
    ///   - destination: The name of the destination.
    ///   - registration: The id of the registration; `nil` for requests without one.
    ///   - user: The user.
    public static func digest(
        application: String, destination: String, registration: String?, user: UserRecord
    ) -> [UInt8] {
        ReplayGuard.owner(
            application: application, destination: destination, registration: registration,
            user: [user.issuer, user.subject])
    }
}
