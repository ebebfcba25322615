import ODataModel
import ODataService

extension RequestBody {
    /// The ids of other entities in the body: bindings, references, ids of nested entities and links of a delta.
    ///
    /// The id of a single entity in the body is not included, because the URL identifies the entity.
    var references: [String] {
        switch self {
        case .reference(let id): [id]
        case .references(let ids): ids
        case .entity(let entity): entity.nestedReferences
        case .delta(let page):
            page.entities.flatMap(\.references) + page.removed.map(\.id).filter { !$0.isEmpty }
                + page.links.flatMap { [$0.source] + ($0.target.map { [$0] } ?? []) }
        case .parameters(let values): values.values.flatMap(\.references)
        case .value(let value, _): value.references
        default: []
        }
    }

    /// A navigation property whose related entities are nested in the body; `nil` if the body has only references
    /// or none.
    var inlineNavigation: String? {
        switch self {
        case .entity(let entity): entity.inlineNavigation
        case .delta(let page): page.entities.lazy.compactMap(\.inlineNavigation).first
        case .value(let value, _): value.inlineNavigation
        default: nil
        }
    }
}

extension ODataEntity {
    fileprivate var references: [String] { (control.id.map { [$0] } ?? []) + nestedReferences }

    fileprivate var nestedReferences: [String] {
        let inValues = values.flatMap { $0?.references ?? [] } + dynamicProperties.values.flatMap(\.references)
        return related.values.reduce(into: inValues) { ids, related in
            switch related {
            case .none: break
            case .references(let others): ids += others
            case .one(let other): ids += other.references
            case .many(let others, _, _): ids += others.flatMap(\.references)
            }
        }
    }

    fileprivate var inlineNavigation: String? {
        for (name, related) in related.sorted(by: { $0.key < $1.key }) {
            if case .references = related { continue }
            return name
        }
        return values.lazy.compactMap { $0?.inlineNavigation }.first
    }
}

extension ODataValue {
    fileprivate var references: [String] {
        switch self {
        case .complex(let entity): entity.references
        case .collection(let members): members.flatMap(\.references)
        default: []
        }
    }

    fileprivate var inlineNavigation: String? {
        switch self {
        case .complex(let entity): entity.inlineNavigation
        case .collection(let members): members.lazy.compactMap(\.inlineNavigation).first
        default: nil
        }
    }
}
