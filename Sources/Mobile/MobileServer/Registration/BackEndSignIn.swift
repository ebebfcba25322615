import Crypto
import Foundation
import HTTPTypes
import ODataHTTP
import ODataService

/// Checks Basic credentials and cookies at a URL of a back end (`mobile-server.md` 6.2).
///
/// The URL gets a request with the credentials. A response of success means that they are valid. Its body may be a JSON
/// object with the members of OpenID Connect UserInfo: `sub`, `name` and `roles`. A success is remembered for
/// ``memory`` as a MAC under a key that never leaves the process.
actor BackEndSignIn {
    /// A person as the back end tells it.
    struct Person: Hashable, Sendable {
        /// The identifier; `nil` if the back end tells none.
        var subject: String?
        /// The name for people.
        var name: String?
        var roles: Set<String> = []
    }

    /// The time for which a success is remembered.
    static let memory = Duration.seconds(60)
    /// The number of checks at once. Further ones are refused, so that strangers cannot flood the back end.
    static let maxAtOnce = 16
    private static let maxKnown = 10_000
    private static let bodyLimit = 65_536
    private static let timeout = Duration.seconds(10)

    private struct Known {
        var person: Person
        var until: ContinuousClock.Instant
    }

    private struct Document: Decodable {
        var sub: String?
        var name: String?
        var roles: [String]?
    }

    private let transport: any HTTPTransport
    private let key = SymmetricKey(size: .bits256)
    private var known: [[UInt8]: Known] = [:]
    private var running = 0

    init(transport: any HTTPTransport) { self.transport = transport }

    /// Returns the person whose credentials stand in a field.
    ///
    /// - Returns: `nil` if the back end refuses the credentials.
    /// - Throws: ``ODataError`` 503 if the back end cannot be asked.
    func person(at url: String, _ field: HTTPField.Name, _ value: String) async throws(ODataError) -> Person? {
        guard TokenIssuers.isAllowed(url) else { throw Self.unavailable }
        let tag = Array(
            HMAC<SHA256>.authenticationCode(for: Array("\(url)\n\(field.canonicalName)\n\(value)".utf8), using: key))
        if let known = known[tag], known.until > .now { return known.person }
        guard running < Self.maxAtOnce else { throw Self.unavailable }
        running += 1
        defer { running -= 1 }
        let person: Person?
        do {
            person = try await ask(url, field, is: value)
        } catch {
            throw Self.unavailable
        }
        guard let person else {
            known[tag] = nil
            return nil
        }
        if known.count >= Self.maxKnown { known = known.filter { $0.value.until > .now } }
        if known.count >= Self.maxKnown { known = [:] }
        known[tag] = Known(person: person, until: .now + Self.memory)
        return person
    }

    private func ask(_ url: String, _ field: HTTPField.Name, is value: String) async throws -> Person? {
        var request = try ServiceRoot(url).request(.get, url: url)
        request.headerFields[field] = value
        request.headerFields[.accept] = "application/json"
        let asked = request
        let (response, bytes) = try await withTimeLimit(Self.timeout) { [transport] in
            let (response, body) = try await transport.send(asked, body: nil)
            return (response, try await body.collect(limit: Self.bodyLimit))
        }
        switch response.status.code {
        case 200..<300: break
        // A redirect leads to a page for people, who have no session.
        case 300..<400, 401, 403: return nil
        default: throw Self.unavailable
        }
        let document = try? JSONDecoder().decode(Document.self, from: Data(bytes))
        let subject = document?.sub.flatMap { $0.isEmpty || $0.utf8.count > 1024 ? nil : $0 }
        return Person(subject: subject, name: document?.name, roles: Set(document?.roles ?? []))
    }

    private static let unavailable = ODataError(
        .busy, "The back end that checks credentials cannot be asked. Try again later.", retryAfter: 10)
    /// The refusal of a cookie without a user.
    static let nameless = ODataError(
        .busy, "The back end that checks cookies tells no user in the member sub.", retryAfter: 60)
}
