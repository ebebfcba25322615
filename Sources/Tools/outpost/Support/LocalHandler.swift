import Foundation
import HTTPTypes
import ODataHTTP
import ODataQuery
import ODataService
import OfflineOData
import ToolLanguage

/// A handler that answers HTTP requests from a store, without a network. Contexts and links have the address
/// of the service.
struct LocalHandler {
    private let provider: OfflineStore
    private let root: ServiceRoot
    private let handler: ODataHandler

    init(_ provider: OfflineStore) throws {
        self.provider = provider
        root = try ServiceRoot(provider.serviceRoot)
        handler = try ODataHandler(provider: provider, serviceRoot: provider.serviceRoot)
    }

    /// Returns the response to a query.
    ///
    /// - Throws: the reason of a refusal.
    func answer(_ url: ODataURL, pageSize: Int? = nil) async throws -> ByteStream {
        // Metadata are XML, independent of the format of the data.
        let accept = url.path.segments == [.metadata] ? "application/xml" : "application/json;odata.metadata=minimal"
        let request = HTTPRequest(
            method: .get, scheme: root.scheme, authority: root.authority, path: root.path + url.urlEncoded(),
            headerFields: [.accept: accept])
        return try await answer(request, pageSize, same: ODataRequest(.read, url))
    }

    /// Returns the page of a link.
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
        // The second call throws the refusal itself.
        _ = try await provider.execute(same)
        let text = try await body.collect(limit: 1 << 20)
        guard let told = try? JSONDecoder().decode(Refusal.self, from: Data(text)) else {
            throw Failure(message: "The store answered \(response.status.code).")
        }
        throw ODataError(status: response.status.code, code: told.error.code, message: told.error.message)
    }

    /// The body of a refusal.
    private struct Refusal: Decodable {
        struct Reason: Decodable {
            var code: String
            var message: String
        }

        var error: Reason
    }
}
