import ODataModel
import ODataQuery
import ODataService

/// Requests of which nobody knows whether they acted.
extension Uploader {
    /// Finds out what became of a request whose answer was lost, for a service that does not recognise a
    /// repeat (rule 1).
    ///
    /// - Parameter refusal: why it was refused when it was sent again, where it was.
    /// - Returns: `nil` when sending it once more can do no harm.
    func settle(_ request: QueuedRequest, refusedWith refusal: ODataError? = nil) async throws -> Result? {
        let doubt = refusal ?? doubt
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

    /// A service that recognises repeats has refused one, and does not say that it recognised it: something on the way may have
    /// refused it, or the service before it looked. That tells nothing of the first sending; what the service has may (rule 1).
    func settle(refused request: QueuedRequest, _ error: ODataError) async throws -> Result {
        do {
            if let settled = try await settle(request, refusedWith: error) { return settled }
            return try await archive(request, .refused, error, message: error.message)
        } catch let unreadable {
            guard refusal(unreadable, of: request) != nil else { throw unreadable }
            return try await archive(request, .inDoubt, error, message: error.message)
        }
    }

    /// The code of our own server, when it died at the wrong moment and others changed the rows since.
    static let repeatInDoubt = "RepeatInDoubt"

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

extension QueuedRequest {
    /// Whether it comes to something else when it is made twice.
    var isHarmfulTwice: Bool { kind == .create || kind == .call }
}
