import ODataModel
import ODataService

/// What a service can do besides answering.
public struct ServiceAbility: Sendable, CustomStringConvertible {
    /// Whether it gives ETags and heeds them.
    public var hasETags = true
    /// Whether it gives delta links.
    public var hasDeltaLinks = true
    /// Whether it recognises a request that comes a second time.
    public var isRepeatable = true
    /// Whether it says of itself what is so; else it claims to recognise what it does not.
    public var isHonest = true
    /// Whether it keeps a change from being put over a version that has another ETag than the one it is sent with; else it
    /// gives ETags and does not heed them.
    public var heedsETags = true

    /// Makes one that can do everything.
    public init() {}

    /// What it lacks.
    public var description: String {
        let lacks = [
            hasETags ? nil : "ETags", hasDeltaLinks ? nil : "delta links", isRepeatable ? nil : "repeatable requests",
        ].compactMap(\.self)
        return lacks.isEmpty ? "able" : "without " + lacks.joined(separator: ", ")
    }
}

/// A service that is less able than the one behind it.
struct LesserService: ODataProvider {
    let base: any ODataProvider
    let ability: ServiceAbility

    var capabilities: ServiceCapabilities? {
        var capabilities = base.capabilities
        if !ability.isRepeatable { capabilities?.supportsRepeatableRequests = false }
        if !ability.hasDeltaLinks { capabilities?.trackedSets = [] }
        return capabilities
    }

    var model: EntityDataModel {
        get async throws {
            guard !ability.isRepeatable, ability.isHonest else { return try await base.model }
            var schemas = try await base.model.schemas
            for index in schemas.indices {
                schemas[index].container?.annotations.removeAll { $0.term.hasPrefix("Org.OData.Repeatability") }
            }
            return try EntityDataModel(schemas: schemas)
        }
    }

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        var request = request
        if !ability.hasDeltaLinks { request.preferences.trackChanges = false }
        if !ability.isRepeatable { request.repeatability = nil }
        if !ability.heedsETags { request.ifMatch = nil }
        if !ability.hasETags {
            request.ifMatch = nil
            // What is encoded already cannot be taken out any more.
            request.format = nil
        }
        var response = try await base.execute(request)
        if !ability.isRepeatable { response.repeatabilityResult = nil }
        guard !ability.hasETags else { return response }
        response.etag = nil
        switch response.body {
        case .entity(var entity):
            entity.control.etag = nil
            response.body = .entity(entity)
        case .page(var page):
            for index in page.entities.indices { page.entities[index].control.etag = nil }
            response.body = .page(page)
        default: break
        }
        return response
    }
}
