import HTTPTypes
import ODataModel
import ODataService

/// Which messages a service is asked for beside the data, in the header field `sap-message-scope`. Only services that say that
/// they understand it (`sap:message-scope-supported` of the container) are sent the field.
public enum MessageScope: String, Hashable, Sendable {
    /// Those of the entities that are asked for.
    case requestedObjects = "RequestedObjects"
    /// Those of the whole business object that the entities are part of.
    case businessObject = "BusinessObject"

    static let field = "sap-message-scope"
}

extension ODataClient.Configuration {
    /// A request, and each of its batch, with the scope of messages. A field that the app gives wins.
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
