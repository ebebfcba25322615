import Foundation
import HTTPTypes
import MobileProtocol
import ODataHTTP
import ODataService

/// A way to sign in that an application offers.
///
/// ```swift
/// switch request.method.kind {
/// case .basic: show("Enter user name and password.")
/// case .bearer: show("Sign in with the browser.")
/// default: break
/// }
/// ```
public struct SignInMethod: Sendable, Hashable, Codable {
    /// The kinds of sign-in.
    public enum Kind: String, Sendable, Hashable, Codable {
        /// A user name and a password.
        case basic
        /// An access token of an issuer.
        case bearer
        /// A client certificate.
        case certificate
        /// A cookie that a sign-in page sets.
        case cookie
        /// An activation code alone.
        case activation
        /// No credentials: the registration is the user.
        case anonymous
    }

    /// The name of the security configuration.
    public let name: String
    /// The kind of the sign-in.
    public let kind: Kind
    /// The issuer of tokens.
    public let issuer: String?
    /// The identifier of the app at the issuer.
    public let clientID: String?

    /// Creates a method.
    public init(name: String, kind: Kind, issuer: String? = nil, clientID: String? = nil) {
        self.name = name
        self.kind = kind
        self.issuer = issuer
        self.clientID = clientID
    }
}

/// An application as the discovery document of a server describes it.
///
/// ```swift
/// let found = try await ServerDiscovery(transport).applications(at: "https://mobile.example")
/// for application in found { show(application.title) }
/// ```
public struct DiscoveredApplication: Sendable, Hashable, Codable {
    /// The name of the application.
    public let application: String
    /// The title for people.
    public let title: String
    /// The URL of the device API.
    public let deviceAPI: String
    /// The ways to sign in.
    public let methods: [SignInMethod]
    /// Whether a registration needs an activation code.
    public let needsActivation: Bool
    /// The oldest version of the app that the server accepts; `nil` for any.
    public let minimumAppVersion: String?

    private enum CodingKeys: String, CodingKey {
        case application, title, deviceAPI
        case methods = "securityConfigurations"
        case needsActivation = "activation"
        case minimumAppVersion
    }

    /// Reads an application; ways to sign in that this version does not know are left out.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        application = try values.decode(String.self, forKey: .application)
        title = try values.decodeIfPresent(String.self, forKey: .title) ?? application
        deviceAPI = try values.decode(String.self, forKey: .deviceAPI)
        let given = try values.decodeIfPresent([Lenient].self, forKey: .methods) ?? []
        methods = given.compactMap(\.method)
        needsActivation = try values.decodeIfPresent(Bool.self, forKey: .needsActivation) ?? false
        minimumAppVersion = try values.decodeIfPresent(String.self, forKey: .minimumAppVersion)
    }

    private struct Lenient: Decodable {
        let method: SignInMethod?
        init(from decoder: any Decoder) throws { method = try? SignInMethod(from: decoder) }
    }
}

/// Reads the discovery document of a server (`/.well-known/outpost`), which contains no secrets.
///
/// ```swift
/// let found = try await ServerDiscovery(transport).applications(at: "https://mobile.example")
/// ```
public struct ServerDiscovery: Sendable {
    /// The maximum number of bytes of a document.
    public static let maxDocumentSize = 262_144

    private let transport: any HTTPTransport

    /// Creates a reader.
    ///
    /// - Parameter transport: Sends the request, without credentials.
    public init(_ transport: any HTTPTransport) { self.transport = transport }

    /// Returns the applications of a server.
    ///
    /// - Parameter url: The base URL of the server; see ``ConnectionProfile``.
    /// - Returns: An empty list if the server has no discovery document, as a plain OData service.
    /// - Throws: ``MobileError``.
    public func applications(at url: String) async throws(MobileError) -> [DiscoveredApplication] {
        let base = try RelayAddress.normalized(url, application: "")
        guard let bytes = try await document("\(base).well-known/outpost") else { return [] }
        guard let content = try? JSONDecoder().decode(Content.self, from: Data(bytes)) else {
            throw .invalidAnswer(detail: "the discovery document is not as expected")
        }
        return content.applications
    }

    /// Returns the application of a profile; `nil` if the server has no discovery document.
    func application(of profile: ConnectionProfile) async throws(MobileError) -> DiscoveredApplication? {
        guard let bytes = try await document("\(profile.discoveryURL)?application=\(profile.application)") else {
            return nil
        }
        guard let found = try? JSONDecoder().decode(DiscoveredApplication.self, from: Data(bytes)) else {
            throw .invalidAnswer(detail: "the discovery document is not as expected")
        }
        guard found.application == profile.application else {
            throw .invalidAnswer(detail: "the discovery document names another application")
        }
        return found
    }

    private struct Content: Decodable { let applications: [DiscoveredApplication] }

    /// Returns the document; `nil` for 404 without the error of a mobile server.
    private func document(_ url: String) async throws(MobileError) -> [UInt8]? {
        let host = (try? ServiceRoot("/").request(.get, url: url))?.authority ?? url
        do {
            var request = try ServiceRoot("/").request(.get, url: url)
            request.headerFields[.accept] = "application/json"
            let (response, stream) = try await transport.send(request, body: nil)
            let bytes = try await stream.collect(limit: Self.maxDocumentSize)
            switch response.status.code {
            case 200:
                // A plain service may answer every path with a page.
                let type = response.headerFields[.contentType]?.lowercased() ?? ""
                return type.hasPrefix("application/json") ? bytes : nil
            case 404:
                let error = ErrorBody(bytes).error(for: response)
                guard error.code == MobileErrorName.applicationUnknown.rawValue else { return nil }
                throw MobileError.unknownApplication(
                    url.range(of: "application=").map { String(url[$0.upperBound...]) } ?? "")
            case 401, 403, 405, 501: return nil
            case 429, 503: throw MobileError.tooManyRequests(seconds: ErrorBody(bytes).error(for: response).retryAfter)
            default:
                throw MobileError.refused(
                    status: response.status.code, code: "", message: "no discovery document")
            }
        } catch let error as ODataError {
            throw .invalidAnswer(detail: error.message)
        } catch {
            throw MobileError(error, host: host)
        }
    }
}

/// Compares versions of apps: numbers with dots between them.
enum AppVersion {
    /// Returns whether a version is as new as another one.
    static func isEnough(_ version: String, for minimum: String) -> Bool {
        let (own, least) = (numbers(version), numbers(minimum))
        for index in 0..<max(own.count, least.count) {
            let (left, right) = (index < own.count ? own[index] : 0, index < least.count ? least[index] : 0)
            if left != right { return left > right }
        }
        return true
    }

    private static func numbers(_ version: String) -> [Int] {
        version.split(separator: ".").map { Int($0.prefix { $0.isNumber }) ?? 0 }
    }
}
