import ODataModel

/// The values that feed mappings write to other places in one entry.
struct FeedPlacement {
    private var texts: [[String]: (text: String, kind: String)] = [:]
    private var custom: [(mapping: FeedMapping, text: String)] = []
    /// The links and categories, one for each condition.
    private var repeated: [(condition: FeedMapping.Condition?, element: String, attributes: [(String, String)])] = []
    private let targets: Set<[String]>

    init(_ mappings: FeedMappings, _ entity: ODataEntity, writer: AtomEntryWriter) {
        targets = Set(mappings.all.filter { $0.namespace == AtomNames.atom }.map(\.elements))
        for mapping in mappings.all {
            guard let value = entity.mappedValue(mapping.sourcePath[...]), !value.isNull else { continue }
            let text = writer.text(value, nil)
            if mapping.isRepeated {
                place(text, mapping)
            } else if mapping.namespace == AtomNames.atom {
                texts[mapping.elements] = (text, mapping.contentKind)
            } else {
                custom.append((mapping, text))
            }
        }
    }

    private mutating func place(_ text: String, _ mapping: FeedMapping) {
        guard let attribute = mapping.attribute, let element = mapping.elements.first else { return }
        let known = repeated.firstIndex { $0.condition == mapping.condition && $0.element == element }
        if let known {
            repeated[known].attributes.append((attribute, text))
        } else {
            let stated = mapping.condition.map { [($0.attribute, $0.value)] } ?? []
            repeated.append((mapping.condition, element, stated + [(attribute, text)]))
        }
    }

    /// Writes the links and categories.
    func writeRepeated(to xml: inout XMLOutput) {
        for (_, element, attributes) in repeated { xml.element(element, attributes, text: "") }
    }

    /// Removes and returns the text of an Atom element.
    mutating func take(_ path: String...) -> (text: String, kind: String)? { texts.removeValue(forKey: path) }

    /// Returns whether an Atom element is the place of a property, even if the property is not loaded.
    func isTarget(_ path: String...) -> Bool { targets.contains(path) }

    /// Writes the elements of other namespaces; elements with a common ancestor are written within it.
    func writeCustom(to xml: inout XMLOutput) {
        var remaining = custom
        while let first = remaining.first {
            let together = remaining.filter {
                $0.mapping.elements[0] == first.mapping.elements[0] && $0.mapping.namespace == first.mapping.namespace
            }
            remaining.removeAll {
                $0.mapping.elements[0] == first.mapping.elements[0] && $0.mapping.namespace == first.mapping.namespace
            }
            let prefix = first.mapping.prefix.flatMap { FeedMapping.isName($0) ? $0 : nil } ?? "fc"
            let declaration = first.mapping.namespace.isEmpty ? [] : [("xmlns:\(prefix)", first.mapping.namespace)]
            Self.write(
                together.map { ($0.mapping.elements[...], $0.mapping.attribute, $0.text) },
                first.mapping.namespace.isEmpty ? "" : "\(prefix):", declaration: declaration, to: &xml)
        }
    }

    private typealias Place = (path: ArraySlice<String>, attribute: String?, text: String)

    private static func write(
        _ places: [Place], _ prefix: String, declaration: [(String, String)], to xml: inout XMLOutput
    ) {
        guard let name = places.first?.path.first else { return }
        let own = places.filter { $0.path.count == 1 }
        let attributes = declaration + own.compactMap { place in place.attribute.map { (prefix + $0, place.text) } }
        let text = own.first { $0.attribute == nil }?.text
        var inner = places.filter { $0.path.count > 1 }.map { ($0.path.dropFirst(), $0.attribute, $0.text) as Place }
        // An element without a namespace must reset the document's default namespace.
        let space = prefix.isEmpty && declaration.isEmpty ? [("xmlns", "")] : []
        guard !inner.isEmpty else { return xml.element(prefix + name, space + attributes, text: text ?? "") }
        xml.begin(prefix + name)
        for (name, value) in space + attributes { xml.attribute(name, value) }
        while let next = inner.first {
            write(inner.filter { $0.path.first == next.path.first }, prefix, declaration: [], to: &xml)
            inner.removeAll { $0.path.first == next.path.first }
        }
        xml.end()
    }
}

extension XMLBody {
    /// Returns whether a text is valid as the XML content of an element.
    static func isContent(_ text: String) -> Bool { (try? parse(Array("<x>\(text)</x>".utf8))) != nil }
}
