import ODataModel
import ODataQuery
import ODataService

/// Looks for created entities after a lost response.
extension Uploader {
    /// The property and value by which a created entity can be found, if the app names such a property.
    func correlation(of request: QueuedRequest) -> (name: String, value: ODataValue)? {
        guard let name = options.correlationProperties[request.entitySet], let value = request.changes[name],
            !value.isNull
        else { return nil }
        return (name, value)
    }

    /// The entity with a unique value that the app assigned; `nil` if there is none.
    func correlated(
        _ request: QueuedRequest, _ property: String, _ value: ODataValue
    ) async throws -> ODataEntity? {
        var url = try await address(of: request).url
        url.options.filter = .binary(.equal, .path([.name(Identifier(property))]), .literal(Literal(value)))
        guard case .page(let page) = try await remote.execute(ODataRequest(.read, url)).body,
            let key = page.entities.first?.key
        else { return nil }
        // The entity is read again by its key, to get its ETag.
        return try await current(request, key)
    }

    var doubt: ODataError {
        ODataError(
            status: 0, code: "InDoubt",
            message: "The answer was lost, and the service cannot tell whether the request acted.")
    }
}
