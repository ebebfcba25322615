import ODataModel

/// Writing of transformed rows. Properties of such rows have paths as names, such as `Customer/Country`, and the
/// payload has an object for each segment (OData Data Aggregation 4.0, 3.2.3).
extension EntityPayloadWriter {
    /// A value with the remaining path to it.
    private struct Leaf {
        var path: ArraySlice<Substring>
        /// The whole path, by which annotations refer to the value.
        var name: String
        /// The declared type; `nil` for a dynamic property.
        var type: TypeReference?
        var value: ODataValue

        init(_ name: String, _ type: TypeReference?, value: ODataValue) {
            path = name.parts(between: "/")[...]
            self.name = name
            self.type = type
            self.value = value
        }

        /// The leaf without the first segment of its path.
        var rest: Leaf {
            var leaf = self
            leaf.path = path.dropFirst()
            return leaf
        }
    }

    /// Writes the properties of a row whose shape has paths as names.
    func writeGrouped(_ entity: ODataEntity, _ annotations: inout AnnotationGroups, to json: inout JSONWriter) {
        let leaves = zip(entity.shape.properties, entity.values).compactMap { property, value in
            value.map { Leaf(property.name, property.type, value: $0) }
        }
        write(leaves, &annotations, to: &json)
    }

    /// Writes dynamic properties whose names are paths.
    func writeGrouped(
        _ properties: [(name: String, value: ODataValue)], _ annotations: inout AnnotationGroups,
        to json: inout JSONWriter
    ) {
        write(properties.map { Leaf($0.name, nil, value: $0.value) }, &annotations, to: &json)
    }

    private func write(_ leaves: [Leaf], _ annotations: inout AnnotationGroups, to json: inout JSONWriter) {
        var seen: Set<Substring> = []
        for leaf in leaves {
            guard let first = leaf.path.first, seen.insert(first).inserted else { continue }
            let name = String(first)
            if leaf.path.count > 1 {
                json.key(name)
                json.beginObject()
                let within = leaves.filter { $0.path.first == first && $0.path.count > 1 }
                write(within.map(\.rest), &annotations, to: &json)
                json.endObject()
                continue
            }
            let stated = annotations.take(leaf.name)
            write(stated, of: name, &json)
            if !stated.contains(where: { $0.term == "odata.type" }) {
                if let type = leaf.type {
                    if metadata == .full { writeType(of: name, type, value: leaf.value, to: &json) }
                } else if metadata != .none {
                    writeDynamicType(of: name, leaf.value, &json)
                }
            }
            json.key(name)
            writeValue(leaf.value, type: leaf.type, to: &json)
        }
    }
}
