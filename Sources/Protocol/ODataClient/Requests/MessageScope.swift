import HTTPTypes
import ODataModel
import ODataService

/// The scope of the messages that a service returns beside the data, sent in the header field
/// `sap-message-scope`. The field is sent only to services whose container states
/// `sap:message-scope-supported`.
public enum MessageScope: String, Hashable, Sendable {
    /// Messages about the requested entities.
    case requestedObjects = "RequestedObjects"
    /// Messages about the whole business object to which the entities belong.
    case businessObject = "BusinessObject"

    static let field = "sap-message-scope"
}

extension ODataClient.Configuration {
    /// Returns a request, and each request of its batch, with the scope of messages. A field set by the app
    /// takes precedence.
    func scoped(_ request: ODataRequest, for model: EntityDataModel) -> ODataRequest {
        guard let messageScope, model.container.supportsMessageScope else { return request }
        func states(_ fields: [String: String]) -> Bool {
            fields.keys.contains { $0.lowercased() == MessageScope.field }
        }
        func scoped(_ request: ODataRequest) -> ODataRequest {
            var request = request
            if case .batch(var items) = request.body {
                for index in items.indices { items[index].request = scoped(items[index].request) }
                request.body = .batch(items)
            }
            if !states(request.headers) { request.headers[MessageScope.field] = messageScope.rawValue }
            return request
        }
        return states(headers) ? request : scoped(request)
    }
}
