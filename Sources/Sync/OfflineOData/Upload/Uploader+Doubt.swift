import ODataModel
import ODataQuery
import ODataService

/// Looks for the entities of creations whose answer was lost.
extension Uploader {
    /// The property that the app names to find a created entity again, with its value.
    func correlation(of request: QueuedRequest) -> (name: String, value: ODataValue)? {
        guard let name = options.correlationProperties[request.entitySet], let value = request.changes[name],
            !value.isNull
        else { return nil }
        return (name, value)
    }

    /// The entity that has a value which the app gives to one alone; `nil` when there is none.
    func correlated(
        _ request: QueuedRequest, _ property: String, _ value: ODataValue
    ) async throws -> ODataEntity? {
        var url = try await address(of: request).url
        url.options.filter = .binary(.equal, .path([.name(Identifier(property))]), .literal(Literal(value)))
        guard case .page(let page) = try await remote.execute(ODataRequest(.read, url)).body,
            let key = page.entities.first?.key
        else { return nil }
        // Once more by its key, for its ETag.
        return try await current(request, key)
    }

    var doubt: ODataError {
        ODataError(
            status: 0, code: "InDoubt",
            message: "The answer was lost, and the service cannot tell whether the request acted.")
    }
}
