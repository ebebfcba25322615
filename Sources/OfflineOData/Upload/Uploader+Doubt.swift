import ODataModel
import ODataQuery
import ODataService

/// Requests of which nobody knows whether they acted.
extension Uploader {
    /// Finds out what became of a request whose answer was lost, for a service that does not recognise a
    /// repeat (rule 1).
    ///
    /// - Returns: `nil` when sending it once more can do no harm.
    func settle(_ request: QueuedRequest) async throws -> Result? {
        switch request.kind {
        case .delete, .stream, .link, .unlink:
            // Made once more, it comes to the same.
            return nil
        case .call:
            return try await archive(request, .inDoubt, doubt, message: doubt.message)
        case .update:
            // An ETag guards it. Without one, the values tell: they are ours, or the change is not there.
            guard request.etag == nil else { return nil }
            guard let theirs = try await current(request, request.key),
                theirs.matches(request.changes)
            else { return nil }
            try await write {
                try outcomes.accept(request, theirs: theirs, etag: theirs.control.etag, in: $0)
            }
            return .accepted
        case .create:
            if request.omitted.isEmpty {
                guard let theirs = try await current(request, request.key) else { return nil }
                guard theirs.matches(request.changes) else {
                    return try await archive(request, .inDoubt, doubt, message: doubt.message)
                }
                try await write {
                    try outcomes.accept(request, theirs: theirs, etag: theirs.control.etag, in: $0)
                }
                return .accepted
            }
            if let (name, value) = correlation(of: request) {
                guard let theirs = try await correlated(request, name, value) else { return nil }
                try await write {
                    try outcomes.accept(
                        request, theirs: theirs, etag: theirs.control.etag, isOvertaken: !request.isShown(by: theirs),
                        in: $0)
                }
                return .accepted
            }
            return try await archive(request, .inDoubt, doubt, message: doubt.message)
        }
    }

    /// The property by which an app says that it finds again what a request creates, and its value.
    func correlation(of request: QueuedRequest) -> (name: String, value: ODataValue)? {
        guard let name = options.correlationProperties[request.entitySet], let value = request.changes[name],
            !value.isNull
        else { return nil }
        return (name, value)
    }

    /// The entity that has a value which the app gives to one alone; `nil` when there is none.
    func correlated(
        _ request: QueuedRequest, _ property: String, _ value: ODataValue
    ) async throws -> Entity? {
        var url = try await place(of: request).url
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
