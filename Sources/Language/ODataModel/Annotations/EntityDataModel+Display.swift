extension EntityDataModel {
    /// Returns the paths of the properties that a list of entities shows, in display order.
    ///
    /// The paths come from `UI.LineItem` of the type, or else from `sap:visible-in-list` and
    /// `sap:list-display-order` of the properties. Properties of complex types have paths such as `Address/City`.
    /// If no property states its visibility, all properties are shown except hidden ones.
    public func visibleInListPaths(of type: QualifiedName) -> [String] {
        visiblePaths(
            of: type, lineItems: Vocabulary.userInterface + "LineItem", isVisible: \.isVisibleInList,
            order: \.listDisplayOrder)
    }

    /// Returns the paths of the properties that a page of one entity shows, in display order.
    ///
    /// The paths come from `UI.Identification` of the type, or else from `sap:visible-in-detail` and
    /// `sap:detail-display-order` of the properties.
    public func visibleInDetailPaths(of type: QualifiedName) -> [String] {
        visiblePaths(
            of: type, lineItems: Vocabulary.userInterface + "Identification", isVisible: \.isVisibleInDetail,
            order: \.detailDisplayOrder)
    }

    /// The maximum nesting depth of complex types that are shown.
    private static let maxComplexDepth = 8

    private func visiblePaths(
        of type: QualifiedName, lineItems term: String, isVisible: KeyPath<Property, Bool?>,
        order: KeyPath<Property, Int?>
    ) -> [String] {
        guard let shape = shape(type) else { return [] }
        if case .collection(let items)? = shape.annotation(term)?.value {
            return items.compactMap { item in
                guard case .path(_, let path)? = item.recordProperty("Value") else { return nil }
                return path
            }
        }
        var leaves: [(path: String, property: Property)] = []
        collect(shape, prefix: "", depth: 0, into: &leaves)
        let isAnyStated = leaves.contains { $0.property[keyPath: isVisible] != nil }
        let shown = leaves.filter { leaf in
            leaf.property.isVisible && (leaf.property[keyPath: isVisible] ?? !isAnyStated)
        }
        // Properties with a number come first, in its order. All other properties keep their order because the sort
        // is stable.
        return shown.enumerated().sorted { left, right in
            let leftOrder = left.element.property[keyPath: order] ?? .max
            let rightOrder = right.element.property[keyPath: order] ?? .max
            return leftOrder == rightOrder ? left.offset < right.offset : leftOrder < rightOrder
        }.map(\.element.path)
    }

    private func collect(
        _ shape: TypeShape, prefix: String, depth: Int, into leaves: inout [(path: String, property: Property)]
    ) {
        for property in shape.properties {
            if case .complex(let name?) = property.type, let complex = self.shape(name) {
                guard depth < Self.maxComplexDepth else { continue }
                collect(complex, prefix: "\(prefix)\(property.name)/", depth: depth + 1, into: &leaves)
            } else {
                leaves.append((prefix + property.name, property))
            }
        }
    }

    /// Returns the property at a path from a type. The path may contain complex properties and casts, but no
    /// navigation properties.
    public func property(_ path: String, of type: QualifiedName) -> Property? {
        var shape = shape(type)
        var found: Property?
        for segment in path.parts(between: "/").map(String.init) {
            if let cast = QualifiedName(segment), let derived = self.shape(cast) {
                shape = derived
                continue
            }
            found = shape?.property(segment)
            guard let property = found else { return nil }
            shape = if case .complex(let name?) = property.type { self.shape(name) } else { nil }
        }
        return found
    }
}

extension ODataValue {
    /// The text of a primitive value, escaped for HTML text and attributes; `nil` for collections and complex
    /// values, which have no text.
    public var htmlText: String? { isNull ? "" : lexicalText?.escapedForHTML }
}

extension String {
    /// The string with references in place of the five special characters of HTML.
    fileprivate var escapedForHTML: String {
        var result = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
