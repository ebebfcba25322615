import Foundation
import HTTPTypes
import ODataServer
import ODataService
import Synchronization

/// An authorization server over a real socket, and a service of one set that takes its tokens.
///
/// Refresh tokens are valid once. The second use of one ends the whole sign-in, as RFC 9700, 4.14.2 recommends.
final class IdentityProvider: Sendable {
    struct State {
        /// The errors with which the token endpoint answers a device code before it gives tokens.
        var deviceErrors: [String] = []
        /// The lifetime of access tokens in seconds.
        var lifetime = 3600
        /// The lifetime of device codes in seconds.
        var codeLifetime = 600
        /// Whether the redirect has the state of another sign-in.
        var sendsWrongState = false
        /// Whether the redirect names another issuer.
        var sendsWrongIssuer = false
        /// The proof key challenges by code.
        var challenges: [String: String] = [:]
        var number = 0
        var refreshToken: String?
        var accessTokens: Set<String> = []
        var refreshes = 0
        var revoked: [String] = []
        var paths: [String] = []
    }

    let state = Mutex(State())

    func set(_ change: @Sendable (inout State) -> Void) { state.withLock { change(&$0) } }

    private static let metadata = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Shop">
        <EntityType Name="Thing"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="Things" EntityType="Shop.Thing"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    /// Serves it while something is done with the address of the service.
    func serving(_ body: (String) async throws -> Void) async throws {
        let server = try await ODataServer { await self.answer($0, $1) }.start()
        do {
            try await body("http://127.0.0.1:\(server.port)/service/")
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    private func answer(_ request: HTTPRequest, _ upload: ByteStream) async -> (HTTPResponse, ByteStream) {
        let body = (try? await upload.collect(limit: 1 << 20)) ?? []
        let form = Self.pairs(String(decoding: body, as: UTF8.self)[...])
        let path = request.path ?? ""
        let query = Self.pairs(path.drop { $0 != "?" }.dropFirst())
        let base = "http://\(request.authority ?? "")"
        state.withLock { $0.paths.append(String(path.prefix { $0 != "?" })) }
        switch path.prefix(while: { $0 != "?" }) {
        case "/.well-known/oauth-authorization-server":
            return Self.json([
                "issuer": base, "authorization_endpoint": base + "/authorize", "token_endpoint": base + "/token",
                "device_authorization_endpoint": base + "/device", "revocation_endpoint": base + "/revoke",
                "authorization_response_iss_parameter_supported": true,
            ])
        case "/resource": return Self.json(["resource": base + "/service/", "authorization_servers": [base]])
        case "/authorize": return redirect(query, issuer: base)
        case "/device":
            return Self.json([
                "device_code": "device-code-1", "user_code": "WDJB-MJHT", "verification_uri": base + "/enter",
                "expires_in": state.withLock { $0.codeLifetime }, "interval": 1,
            ])
        case "/token": return token(form)
        case "/revoke":
            state.withLock { state in
                state.revoked.append(form["token"] ?? "")
                state.accessTokens = []
                state.refreshToken = nil
            }
            return Self.response(.ok, "text/plain", "")
        default: return service(request, path, base)
        }
    }

    private func redirect(_ query: [String: String], issuer: String) -> (HTTPResponse, ByteStream) {
        let code = state.withLock { state in
            state.number += 1
            let code = "code-\(state.number)"
            state.challenges[code] = query["code_challenge"]
            return code
        }
        let (wrongState, wrongIssuer) = state.withLock { ($0.sendsWrongState, $0.sendsWrongIssuer) }
        var response = HTTPResponse(status: .found)
        let stateText = wrongState ? "other" : query["state"] ?? ""
        let issuerText = wrongIssuer ? "http://127.0.0.1:9" : issuer
        response.headerFields[.location] =
            "\(query["redirect_uri"] ?? "")?code=\(code)&state=\(stateText)&iss=\(issuerText)"
        return (response, ByteStream([]))
    }

    private func token(_ form: [String: String]) -> (HTTPResponse, ByteStream) {
        state.withLock { state in
            func refused(_ code: String) -> (HTTPResponse, ByteStream) {
                let text = "\(code) for \(form["refresh_token"] ?? form["device_code"] ?? "")"
                return Self.json(["error": code, "error_description": text], .badRequest)
            }
            switch form["grant_type"] {
            case "urn:ietf:params:oauth:grant-type:device_code":
                guard form["device_code"] == "device-code-1" else { return refused("invalid_grant") }
                if !state.deviceErrors.isEmpty { return refused(state.deviceErrors.removeFirst()) }
            case "authorization_code":
                // The proof key is compared in the tests of the library.
                guard let code = form["code"], state.challenges.removeValue(forKey: code) != nil,
                    form["code_verifier"]?.count == 43
                else { return refused("invalid_grant") }
            case "refresh_token":
                state.refreshes += 1
                guard let known = state.refreshToken, form["refresh_token"] == known else {
                    state.refreshToken = nil
                    state.accessTokens = []
                    return refused("invalid_grant")
                }
            default: return refused("unsupported_grant_type")
            }
            state.number += 1
            let (access, refresh) = ("s3cret-access-\(state.number)", "s3cret-refresh-\(state.number)")
            state.accessTokens.insert(access)
            state.refreshToken = refresh
            return Self.json([
                "access_token": access, "token_type": "Bearer", "expires_in": state.lifetime, "refresh_token": refresh,
            ])
        }
    }

    private func service(_ request: HTTPRequest, _ path: String, _ base: String) -> (HTTPResponse, ByteStream) {
        let field = request.headerFields[.authorization] ?? ""
        guard state.withLock({ $0.accessTokens.contains(String(field.dropFirst("Bearer ".count))) }) else {
            var response = HTTPResponse(status: .unauthorized)
            response.headerFields[.wwwAuthenticate] = "Bearer resource_metadata=\"\(base)/resource\""
            return (response, ByteStream([]))
        }
        if path.contains("$metadata") { return Self.response(.ok, "application/xml", Self.metadata) }
        if path.contains("$count") { return Self.response(.ok, "text/plain", "1") }
        return Self.json(["@odata.context": "$metadata#Things", "value": [["ID": 1]]])
    }

    private static func pairs(_ text: Substring) -> [String: String] {
        var result: [String: String] = [:]
        for pair in text.split(separator: "&") {
            let name = pair.prefix { $0 != "=" }
            let value = pair.dropFirst(name.count + 1).replacingOccurrences(of: "+", with: " ")
            result[String(name)] = value.removingPercentEncoding ?? value
        }
        return result
    }

    private static func json(_ value: [String: Any], _ status: HTTPResponse.Status = .ok) -> (HTTPResponse, ByteStream)
    {
        let data = (try? JSONSerialization.data(withJSONObject: value)) ?? Data()
        return response(status, "application/json", String(decoding: data, as: UTF8.self))
    }

    private static func response(
        _ status: HTTPResponse.Status, _ type: String, _ text: String
    ) -> (HTTPResponse, ByteStream) {
        var response = HTTPResponse(status: status)
        response.headerFields[.contentType] = type
        return (response, ByteStream(Array(text.utf8)))
    }
}
