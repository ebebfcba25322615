import ODataModel
import ODataService

extension ODataRequest {
    /// Checks the values in the request against the model. Of an entity that was read and changed, only the
    /// changed values are checked.
    ///
    /// - Throws: `InvalidValueError` for the first value that does not fit its property.
    func validateValues(_ validator: ValueValidator) throws(InvalidValueError) {
        guard validator.checks != [], method != .read else { return }
        var waiting: [ODataRequest] = [self]
        while let request = waiting.popLast() {
            switch request.body {
            case .entity(let entity): try request.validate(entity, validator)
            case .delta(let page):
                for entity in page.entities { try request.validate(entity, validator) }
            case .batch(let items): waiting += items.reversed().map(\.request).filter { $0.method != .read }
            case .none, .value, .parameters, .reference, .references, .media: break
            }
        }
    }

    private func validate(_ entity: ODataEntity, _ validator: ValueValidator) throws(InvalidValueError) {
        var waiting = [entity]
        while let entity = waiting.popLast() {
            let changed = entity.changedProperties
            // Unchanged values of the service are sent back as they were, even if they contradict its metadata.
            if changed.isEmpty, method != .replace {
                try validator.validate(entity)
            } else {
                for (ordinal, property) in entity.shape.properties.enumerated() where changed.contains(property.name) {
                    if let value = entity.values[ordinal] { try validator.validate(value, for: property) }
                }
            }
            for (_, related) in entity.related.sorted(by: { $0.key < $1.key }) {
                switch related {
                case .one(let other): waiting.append(other)
                case .many(let others, _, _): waiting += others
                case .references, .none: break
                }
            }
        }
    }
}
