import Foundation
import HTTPTypes
import ODataHTTP
import ODataQuery
import ODataService
import OfflineOData

/// Asks a store in messages, as a program would ask its service, and without a network: contexts and links name what the service
/// would name.
struct LocalHandler {
    private let provider: OfflineStore
    private let root: ServiceRoot
    private let handler: ODataHandler

    init(_ provider: OfflineStore) throws {
        self.provider = provider
        root = try ServiceRoot(provider.serviceRoot)
        handler = try ODataHandler(provider: provider, serviceRoot: provider.serviceRoot)
    }

    /// The answer to a query, byte for byte.
    ///
    /// - Throws: why it is refused.
    func answer(_ url: ODataURL, pageSize: Int? = nil) async throws -> ByteStream {
        // The metadata are XML, whatever the data are asked for as.
        let accept = url.path.segments == [.metadata] ? "application/xml" : "application/json;odata.metadata=minimal"
        let request = HTTPRequest(
            method: .get, scheme: root.scheme, authority: root.authority, path: root.path + url.urlEncoded(),
            headerFields: [.accept: accept])
        return try await answer(request, pageSize, same: ODataRequest(.read, url))
    }

    /// The page that a link of an answer leads to.
    func answer(following link: String, pageSize: Int?) async throws -> ByteStream {
        var request = try root.request(.get, url: root.url(for: link))
        request.headerFields[.accept] = "application/json;odata.metadata=minimal"
        return try await answer(request, pageSize, same: ODataRequest(following: link))
    }

    private func answer(_ request: HTTPRequest, _ pageSize: Int?, same: ODataRequest) async throws -> ByteStream {
        var request = request
        if let pageSize, let prefer = HTTPField.Name("Prefer") {
            request.headerFields[prefer] = "odata.maxpagesize=\(pageSize)"
        }
        let (response, body) = await handler.handle(request, ByteStream([]))
        guard response.status.code >= 400 else { return body }
        // Asked again for the refusal itself.
        _ = try await provider.execute(same)
        let text = try await body.collect(limit: 1 << 20)
        guard let told = try? JSONDecoder().decode(Refusal.self, from: Data(text)) else {
            throw Failure(message: "The store answered \(response.status.code).")
        }
        throw ODataError(status: response.status.code, code: told.error.code, message: told.error.message)
    }

    /// What a refused request is answered.
    private struct Refusal: Decodable {
        struct Reason: Decodable {
            var code: String
            var message: String
        }

        var error: Reason
    }
}
