import ODataHTTP
import ODataModel
import ODataService

/// A back end as a provider of this server: its links become links below the destination.
///
/// Responses are decoded, since the bytes of the back end contain its own links.
struct RemoteProvider: ProviderWrapper {
    let base: any ODataProvider
    /// The service root of the back end.
    let root: ServiceRoot

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        var request = request
        request.format = nil
        if case .batch(var items) = request.body {
            for index in items.indices { items[index].request.format = nil }
            request.body = .batch(items)
        }
        return local(try await base.execute(request))
    }

    private func local(_ response: ODataResponse) -> ODataResponse {
        var response = response
        response.location = response.location.flatMap(relative)
        response.entityID = response.entityID.flatMap(relative)
        response.baseURL = nil
        // Fields of the exchange with the back end say nothing about that with the device.
        response.headers = [:]
        switch response.body {
        case .entity(let entity): response.body = .entity(local(entity))
        case .page(var page):
            page.entities = page.entities.map(local)
            page.nextLink = page.nextLink.flatMap(relative)
            page.deltaLink = page.deltaLink.flatMap(relative)
            response.body = .page(page)
        case .references(let ids, let isCollection, let count, let next):
            response.body = .references(
                ids.compactMap(relative), isCollection: isCollection, count: count, nextLink: next.flatMap(relative))
        case .batch(var results):
            for index in results.indices { results[index].result = results[index].result.map(local) }
            response.body = .batch(results)
        default: break
        }
        return response
    }

    /// Returns a link relative to the service root, or `nil` if it leads elsewhere.
    private func relative(_ link: String) -> String? {
        LinkMap.isAbsolute(link) ? root.relative(link) : link
    }

    private func local(_ entity: ODataEntity) -> ODataEntity {
        var entity = entity
        entity.control.id = nil
        entity.control.editLink = nil
        entity.control.readLink = nil
        entity.control.mediaReadLink = nil
        for (name, related) in entity.related {
            switch related {
            case .one(let inner): entity.related[name] = .one(local(inner))
            case .many(let inner, let count, let next):
                entity.related[name] = .many(inner.map(local), count: count, nextLink: next.flatMap(relative))
            default: break
            }
        }
        return entity
    }
}
