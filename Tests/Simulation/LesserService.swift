import ODataModel
import ODataService

/// The capabilities of a simulated service.
public struct ServiceAbility: Sendable, CustomStringConvertible {
    /// Whether the service returns and checks ETags.
    public var hasETags = true
    /// Whether the service returns delta links.
    public var hasDeltaLinks = true
    /// Whether the service recognises repeated requests.
    public var isRepeatable = true
    /// Whether the service describes itself truthfully; otherwise each of its responses claims to recognise
    /// repeated requests.
    public var isHonest = true
    /// Whether a proxy removes the headers of repeatable requests although the metadata announces support for
    /// them.
    public var isStripped = false
    /// Whether the service speaks OData 2.0.
    public var speaksV2 = false
    /// Whether the service checks the ETag of a request; otherwise it returns ETags and ignores the conditions
    /// on them.
    public var heedsETags = true
    /// Whether the service supports batches.
    public var hasBatches = true
    /// Whether the service supports change sets; otherwise it refuses batches with change sets, although its
    /// metadata does not say so.
    public var hasChangeSets = true
    /// Whether the service undoes the executed part of a change set that it refuses.
    public var keepsChangeSetsWhole = true

    /// Creates a service with all capabilities.
    public init() {}

    /// A description of the missing capabilities.
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

/// A service with fewer capabilities than the service behind it.
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

    /// Returns a request without the parts that the service does not support.
    private func lessened(_ request: ODataRequest) -> ODataRequest {
        var request = request
        if !ability.hasDeltaLinks { request.preferences.trackChanges = false }
        if !ability.isRepeatable { request.repeatability = nil }
        if !ability.heedsETags { request.ifMatch = nil }
        if !ability.hasETags {
            request.ifMatch = nil
            // The ETags could not be removed from an encoded response.
            request.format = nil
        }
        return request
    }

    /// Returns an error without the parts that the service does not support.
    private func lessened(_ error: ODataError) -> ODataError {
        var error = error
        if !ability.isRepeatable { error.repeatabilityResult = nil }
        return error
    }

    /// Returns a response without the parts that the service does not support.
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

    /// Returns a change of a change set as a single change with its own request id.
    private static func alone(_ item: BatchItem) -> BatchItem {
        var item = item
        item.atomicityGroup = nil
        item.request.repeatability?.requestID += "-\(item.id)"
        return item
    }

    /// Returns results that report all changes as refused if one was refused.
    private static func refusals(in results: [BatchResult], of items: [BatchItem]) -> [BatchResult] {
        let refusal = results.lazy.compactMap { result in
            if case .failure(let error) = result.result { error } else { nil }
        }.first
        guard let refusal else { return results }
        return items.map { BatchResult(id: $0.id, result: .failure(refusal)) }
    }
}
