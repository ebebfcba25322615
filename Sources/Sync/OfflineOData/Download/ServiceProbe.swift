import ODataHTTP
import ODataModel
import ODataQuery
import ODataService

/// Finds out by small requests which defining queries a service answers, before a store is created with them. A
/// service counts as able to expand a relation once it has done so (rule 39).
struct ServiceProbe {
    let service: any ODataProvider
    let model: EntityDataModel

    /// The statuses with which services refuse a query.
    private static let refusals: Set = [400, 403, 404, 405, 406, 410, 414, 500, 501]

    /// Returns a query with the parts of its `$expand` that the service answers.
    ///
    /// - Returns: `nil` for a refused singleton, a refused entity set without a key, and a query that needs its
    ///   `$expand` and has none left. The download of any other entity set reports the refusal itself.
    /// - Throws: errors about the user or the way to the service.
    func answered(_ query: DefiningQuery) async throws -> DefiningQuery? {
        let expand = query.url.options.expand
        let name = query.url.path.description
        let isOptional = model.singleton(name) != nil || model.entitySet(name)?.hasKey(in: model) == false
        guard isOptional || !expand.isEmpty else { return query }
        let answered = try await expanded(query, expand)
        guard answered != Set(expand) else { return query }
        var kept: [ExpandItem] = []
        for item in expand {
            // The service may have refused it because of its nested `$expand` or `$select`.
            for simpler in item.simplerForms {
                guard try await expanded(query, [simpler])?.contains(simpler) == true else { continue }
                kept.append(simpler)
                break
            }
        }
        guard kept.isEmpty else { return try query.expanding(kept) }
        guard isOptional else { return nil }
        if answered == nil {
            guard try await expanded(query, []) != nil else { return nil }
        }
        return try query.expanding([])
    }

    /// The items that the service has expanded, or may have, in the first entity of a query; `nil` if it refuses
    /// the query.
    private func expanded(_ query: DefiningQuery, _ items: [ExpandItem]) async throws -> Set<ExpandItem>? {
        var url = query.url
        url.options.expand = items
        if model.singleton(url.path.description) == nil { url.options.top = 1 }
        let first: ODataEntity?
        do {
            switch try await service.execute(ODataRequest(.read, url)).body {
            case .page(let page): first = page.entities.first
            case .entity(let entity): first = entity
            case .none: first = nil
            default: return nil
            }
        } catch let error as ODataError where Self.refusals.contains(error.status) && !error.isOfCommunication {
            return nil
        } catch is InvalidResponseError {
            return nil
        }
        guard let first else { return Set(items) }
        return Set(
            items.filter { item in
                // Another entity may be of the derived type and have it.
                item.path.count > 1 || item.relation.map { first.related[$0] != nil } ?? true
            })
    }
}

extension ExpandItem {
    /// The item, and the same item without its nested `$expand` and `$select`.
    fileprivate var simplerForms: [ExpandItem] {
        var forms = [self]
        var simpler = self
        if !options.expand.isEmpty {
            simpler.options.expand = []
            forms.append(simpler)
        }
        if !options.select.isEmpty {
            simpler.options.select = []
            forms.append(simpler)
        }
        return forms
    }
}
