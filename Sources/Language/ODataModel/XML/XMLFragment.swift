/// One element of an XML document with its whole content, which payload readers process one entry at a time.
package struct XMLFragment: Hashable, Sendable {
    /// The parts of an element's content.
    package indirect enum Content: Hashable, Sendable {
        case element(XMLFragment)
        case text(String)
    }

    /// An attribute; the namespace is empty for attributes without a prefix.
    package struct Attribute: Hashable, Sendable {
        package var namespace: String
        package var name: String
        package var value: String
    }

    /// The namespace; empty for none.
    package var namespace: String
    /// The local name.
    package var name: String
    /// The attributes in document order.
    package var attributes: [Attribute]
    /// The content in document order.
    package var content: [Content] = []
    /// The line, counted from 1.
    package var line: Int
    /// The column, counted from 1.
    package var column: Int

    /// The elements directly within the element.
    package var elements: [XMLFragment] {
        content.compactMap { if case .element(let element) = $0 { element } else { nil } }
    }

    /// The text directly within the element.
    package var text: String {
        // Nearly every element has a single piece of text.
        if content.count == 1, case .text(let text) = content[0] { return text }
        return content.reduce(into: "") { if case .text(let text) = $1 { $0 += text } }
    }

    /// Returns the value of an attribute.
    package func attribute(_ name: String, _ namespace: String = "") -> String? {
        attributes.first { $0.name == name && $0.namespace == namespace }?.value
    }

    /// The content as XML, in which elements declare their own namespaces.
    package var innerXML: String {
        content.reduce(into: "") { result, item in
            switch item {
            case .text(let text): result += XMLOutput.escaped(text)
            case .element(let element):
                let attributes = element.attributes.filter { $0.namespace.isEmpty }.map {
                    " \($0.name)=\"\(XMLOutput.escaped($0.value, inAttribute: true))\""
                }
                let space = XMLOutput.escaped(element.namespace, inAttribute: true)
                let start = "<\(element.name) xmlns=\"\(space)\"\(attributes.joined())"
                let inner = element.innerXML
                result += inner.isEmpty ? start + "/>" : "\(start)>\(inner)</\(element.name)>"
            }
        }
    }
}

/// An error that prevents reading a document.
package struct XMLFragmentError: Error, Hashable, Sendable {
    package enum Reason: Hashable, Sendable {
        case notWellFormed(String)
        case truncated
        case documentType
        case tooDeep
        case tooLarge
    }

    package var reason: Reason
    package var line: Int
    package var column: Int
}
