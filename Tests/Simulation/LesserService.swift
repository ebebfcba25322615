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
    /// Whether it says of itself what is so; else it claims to recognise what it does not, in each of its answers.
    public var isHonest = true
    /// Whether something on the way takes the fields of repeatable requests out, while its metadata say that it recognises
    /// them.
    public var isStripped = false
    /// Whether its clients speak OData 2.0 with it.
    public var speaksV2 = false
    /// Whether it keeps a change from being put over a version that has another ETag than the one it is sent with; else it
    /// gives ETags and does not heed them.
    public var heedsETags = true
    /// Whether it takes several requests in one message.
    public var hasBatches = true
    /// Whether it takes several changes as one, which are made together or not at all; else it refuses a batch that asks for
    /// that, although its metadata do not say so.
    public var hasChangeSets = true
    /// Whether it makes none of several changes where it refuses one of them; else it makes those before that.
    public var keepsChangeSetsWhole = true

    /// Makes one that can do everything.
    public init() {}

    /// What it lacks.
    public var description: String {
        let lacks = [
            hasETags ? nil : "ETags", hasDeltaLinks ? nil : "delta links",
            isRepeatable ? nil : isStripped ? "fields of repeatable requests" : "repeatable requests",
            !hasBatches ? "batches" : hasChangeSets ? nil : "change sets",
        ].compactMap(\.self)
        let name = speaksV2 ? "of OData 2.0, " : ""
        return name + (lacks.isEmpty ? "able" : "without " + lacks.joined(separator: ", "))
    }
}

/// A service that is less able than the one behind it.
struct LesserService: ODataProvider {
    let base: any ODataProvider
    let ability: ServiceAbility
    let model: EntityDataModel

    init(base: any ODataProvider, ability: ServiceAbility) async throws {
        self.base = base
        self.ability = ability
        model = try Self.model(try await base.model, ability)
    }

    private static func model(_ model: EntityDataModel, _ ability: ServiceAbility) throws -> EntityDataModel {
        let hidesRepeatability = !ability.isRepeatable && ability.isHonest && !ability.isStripped
        guard hidesRepeatability || !ability.hasBatches else { return model }
        var schemas = model.schemas
        for index in schemas.indices {
            if hidesRepeatability {
                schemas[index].container?.annotations.removeAll { $0.term.hasPrefix("Org.OData.Repeatability") }
            }
            if !ability.hasBatches {
                let isSupported = AnnotationExpression.constant(kind: "Bool", text: "false")
                schemas[index].container?.annotations.append(
                    Annotation(
                        term: "Org.OData.Capabilities.V1.BatchSupport",
                        value: .record(type: nil, properties: [.init(name: "Supported", value: isSupported)])))
            }
        }
        return try EntityDataModel(schemas: schemas)
    }

    var traits: ProviderTraits {
        var traits = base.traits
        if !ability.isRepeatable { traits.capabilities?.supportsRepeatableRequests = false }
        if !ability.hasDeltaLinks { traits.capabilities?.trackedSets = [] }
        return traits
    }

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        guard case .batch(let items) = request.body else {
            do {
                return lessened(try await base.execute(lessened(request)), to: request)
            } catch let error as ODataError {
                throw lessened(error)
            }
        }
        guard ability.hasBatches else { throw ODataError.notFound("$batch") }
        guard ability.hasChangeSets || items.allSatisfy({ $0.atomicityGroup == nil }) else {
            throw ODataError.notImplemented("A change set")
        }
        var request = request
        request.body = .batch(
            items.map { item in
                var item = item
                item.request = lessened(item.request)
                return ability.keepsChangeSetsWhole ? item : Self.alone(item)
            })
        var response = try await base.execute(request)
        guard case .batch(var results) = response.body else { return response }
        for index in results.indices where index < items.count {
            results[index].result = results[index].result.map { lessened($0, to: items[index].request) }
                .mapError(lessened)
        }
        if !ability.keepsChangeSetsWhole { results = Self.refusals(in: results, of: items) }
        response.body = .batch(results)
        return response
    }

    /// A request without what the service cannot do.
    private func lessened(_ request: ODataRequest) -> ODataRequest {
        var request = request
        if !ability.hasDeltaLinks { request.preferences.trackChanges = false }
        if !ability.isRepeatable { request.repeatability = nil }
        if !ability.heedsETags { request.ifMatch = nil }
        if !ability.hasETags {
            request.ifMatch = nil
            // What is encoded already cannot be taken out any more.
            request.format = nil
        }
        return request
    }

    /// A refusal without what the service cannot do.
    private func lessened(_ error: ODataError) -> ODataError {
        var error = error
        if !ability.isRepeatable { error.repeatabilityResult = nil }
        return error
    }

    /// An answer without what the service cannot do.
    private func lessened(_ response: ODataResponse, to request: ODataRequest) -> ODataResponse {
        var response = response
        if !ability.isRepeatable {
            let claims = !ability.isHonest && request.repeatability != nil
            response.repeatabilityResult = claims ? .accepted : nil
        }
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

    // MARK: Breaking change sets

    /// A change of a set as one for itself, known by an identification of its own.
    private static func alone(_ item: BatchItem) -> BatchItem {
        var item = item
        item.atomicityGroup = nil
        item.request.repeatability?.requestID += "-\(item.id)"
        return item
    }

    /// What is said of changes of which one was refused: that all were.
    private static func refusals(in results: [BatchResult], of items: [BatchItem]) -> [BatchResult] {
        let refusal = results.lazy.compactMap { result in
            if case .failure(let error) = result.result { error } else { nil }
        }.first
        guard let refusal else { return results }
        return items.map { BatchResult(id: $0.id, result: .failure(refusal)) }
    }
}
