import Foundation
import HTTPTypes
import ODataHTTP
import ODataService
import Synchronization

/// The cookies of a session (RFC 6265). They are kept as services set them, and sent to matching requests.
///
/// A jar belongs to one session, unless the app shares it. Cookies are kept in memory. To persist them, an app
/// stores ``cookies`` in its vault, because they are often as sensitive as passwords.
///
/// ```swift
/// let jar = CookieJar()
/// let session = try HTTPSession(transport, serviceRoot: root, configuration: .init(cookies: jar))
/// jar.clear()
/// ```
public final class CookieJar: Sendable {
    /// The maximum number of cookies of one domain.
    public static let maxPerDomain = 50
    /// The maximum total number of cookies.
    public static let maxCookies = 3000

    fileprivate struct Key: Hashable {
        let name: String
        let domain: String
        let path: String
    }

    fileprivate struct State {
        var cookies: [Key: (cookie: Cookie, created: UInt64)] = [:]
        var counter: UInt64 = 0
    }

    private let state = Mutex(State())
    private let now: @Sendable () -> Int64

    /// Creates a jar.
    ///
    /// - Parameters:
    ///   - cookies: The cookies of an earlier session.
    ///   - now: Returns the current time in seconds since 1970.
    public init(
        _ cookies: [Cookie] = [], now: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }
    ) {
        self.now = now
        for cookie in cookies { keep(cookie) }
    }

    /// The cookies that have not expired, oldest first.
    public var cookies: [Cookie] {
        let now = now()
        return state.withLock { state in
            state.cookies.values.sorted { $0.created < $1.created }.map(\.cookie).filter { ($0.expires ?? .max) > now }
        }
    }

    /// Stores the cookies that a response sets.
    public func store(_ response: HTTPResponse, to request: HTTPRequest) {
        let now = now()
        for field in response.headerFields[values: .setCookie] {
            for text in Self.separate(field) {
                guard let cookie = Cookie(text, from: request, now: now) else { continue }
                if let origin = Origin(request), !origin.isSecure, hasSecureTwin(of: cookie) { continue }
                keep(cookie)
            }
        }
    }

    /// Returns the value of `Cookie` for a request, or `nil` if no cookie matches. Longer paths come first.
    public func field(for request: HTTPRequest) -> String? {
        guard !state.withLock({ $0.cookies.isEmpty }), let origin = Origin(request) else { return nil }
        let now = now()
        let matching = state.withLock { state in
            state.cookies.values.filter {
                ($0.cookie.expires ?? .max) > now && $0.cookie.matches(request, origin: origin)
            }
        }
        guard !matching.isEmpty else { return nil }
        let sorted = matching.sorted {
            ($1.cookie.path.count, $0.created) < ($0.cookie.path.count, $1.created)
        }
        return sorted.map { "\($0.cookie.name)=\($0.cookie.value)" }.joined(separator: "; ")
    }

    /// Removes all cookies, or those of a domain.
    public func clear(domain: String? = nil) {
        state.withLock { state in
            guard let domain = domain?.lowercased() else {
                state.cookies = [:]
                return
            }
            state.cookies = state.cookies.filter { $0.key.domain != domain }
        }
    }

    private func keep(_ cookie: Cookie) {
        let key = Key(name: cookie.name, domain: cookie.domain, path: cookie.path)
        let now = now()
        state.withLock { state in
            guard (cookie.expires ?? .max) > now else {
                state.cookies[key] = nil
                return
            }
            state.counter += 1
            // A cookie keeps its position if only its value changes.
            state.cookies[key] = (cookie, state.cookies[key]?.created ?? state.counter)
            state.trim(domain: cookie.domain)
        }
    }

    /// Returns whether a secure cookie with the same name exists. A cookie from an insecure connection must not
    /// replace it (RFC 6265bis, 5.7).
    private func hasSecureTwin(of cookie: Cookie) -> Bool {
        state.withLock { state in
            state.cookies.values.contains {
                $0.cookie.isSecure && $0.cookie.name == cookie.name && $0.cookie.domain == cookie.domain
            }
        }
    }

    /// Returns the cookies of a field. Some intermediaries join several fields with commas, although RFC 6265,
    /// 3 forbids it.
    static func separate(_ field: String) -> [String] {
        guard field.contains(",") else { return [field] }
        var cookies: [String] = []
        for part in field.split(separator: ",", omittingEmptySubsequences: false) {
            let name = part.drop { $0 == " " }.prefix { $0 != "=" && $0 != ";" }
            let startsCookie = part.contains("=") && !name.isEmpty && !name.contains(" ")
            if cookies.isEmpty || startsCookie {
                cookies.append(String(part))
            } else {
                cookies[cookies.count - 1] += "," + part
            }
        }
        return cookies
    }
}

extension CookieJar.State {
    /// Removes the oldest cookies if there are too many.
    fileprivate mutating func trim(domain: String) {
        let own = cookies.filter { $0.key.domain == domain }
        if own.count > CookieJar.maxPerDomain, let oldest = own.min(by: { $0.value.created < $1.value.created }) {
            cookies[oldest.key] = nil
        }
        if cookies.count > CookieJar.maxCookies, let oldest = cookies.min(by: { $0.value.created < $1.value.created }) {
            cookies[oldest.key] = nil
        }
    }
}

/// Sends the cookies of a jar and stores those that responses set.
public struct CookieTransport: HTTPTransport {
    private let base: any HTTPTransport
    private let jar: CookieJar

    /// Creates a transport that applies a cookie jar to another transport.
    public init(_ base: any HTTPTransport, jar: CookieJar) {
        self.base = base
        self.jar = jar
    }

    /// Sends a request with the matching cookies, in addition to those in the request.
    public func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        var message = request
        if let kept = jar.field(for: request) {
            message.headerFields[.cookie] = request.headerFields[.cookie].map { "\($0); \(kept)" } ?? kept
        }
        let (response, stream) = try await base.send(message, body: body, options: options)
        jar.store(response, to: request)
        return (response, stream)
    }
}
