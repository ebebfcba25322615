import ODataModel

/// Rows that transformations made: their shape names grouped paths as a whole, `Customer/Country`, and the payload has
/// an object for each step (OData Data Aggregation 4.0, 3.2.3).
extension EntityPayloadWriter {
    /// A value with what is left of the path that leads to it.
    private struct Leaf {
        var path: ArraySlice<Substring>
        var property: Property
        var value: ODataValue
    }

    /// Writes the properties of such a row.
    func writeGrouped(_ entity: Entity, _ annotations: inout AnnotationGroups, _ json: inout JSONWriter) {
        let leaves = zip(entity.shape.properties, entity.values).compactMap { property, value in
            value.map { Leaf(path: property.name.split(separator: "/")[...], property: property, value: $0) }
        }
        write(leaves, &annotations, &json)
    }

    private func write(_ leaves: [Leaf], _ annotations: inout AnnotationGroups, _ json: inout JSONWriter) {
        var seen: Set<Substring> = []
        for leaf in leaves {
            guard let first = leaf.path.first, seen.insert(first).inserted else { continue }
            let name = String(first)
            if leaf.path.count > 1 {
                json.key(name)
                json.beginObject()
                let within = leaves.filter { $0.path.first == first && $0.path.count > 1 }
                write(
                    within.map { Leaf(path: $0.path.dropFirst(), property: $0.property, value: $0.value) },
                    &annotations, &json)
                json.endObject()
                continue
            }
            let stated = annotations.take(leaf.property.name)
            write(stated, of: name, &json)
            if metadata == .full, !stated.contains(where: { $0.term == "odata.type" }) {
                writeType(of: name, leaf.property.type, leaf.value, &json)
            }
            json.key(name)
            writeValue(leaf.value, type: leaf.property.type, to: &json)
        }
    }
}
