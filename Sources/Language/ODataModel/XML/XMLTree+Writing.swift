extension XMLTree {
    /// The document in UTF-8. Parsing the bytes gives an equal tree.
    public var bytes: [UInt8] {
        var output: [UInt8] = Array("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n".utf8)
        for node in nodes {
            Self.write(node, to: &output)
            output.append(UInt8(ascii: "\n"))
        }
        return output
    }

    /// Writes a node recursively; the depth of the tree limits the recursion.
    private static func write(_ node: Node, to output: inout [UInt8]) {
        switch node {
        case .text(let text): XMLOutput.escape(text, inAttribute: false, to: &output)
        case .comment(let text): output.append(contentsOf: "<!--\(text)-->".utf8)
        case .instruction(let target, let content):
            output.append(contentsOf: "<?\(target)\(content.map { " \($0)" } ?? "")?>".utf8)
        case .element(let element):
            output.append(contentsOf: "<\(element.name.text)".utf8)
            for declaration in element.declarations {
                output.append(contentsOf: " xmlns\(declaration.prefix.map { ":\($0)" } ?? "")=\"".utf8)
                XMLOutput.escape(declaration.namespace, inAttribute: true, to: &output)
                output.append(UInt8(ascii: "\""))
            }
            for attribute in element.attributes {
                output.append(contentsOf: " \(attribute.name.text)=\"".utf8)
                XMLOutput.escape(attribute.value, inAttribute: true, to: &output)
                output.append(UInt8(ascii: "\""))
            }
            guard !element.children.isEmpty else {
                output.append(contentsOf: "/>".utf8)
                return
            }
            output.append(UInt8(ascii: ">"))
            for child in element.children { write(child, to: &output) }
            output.append(contentsOf: "</\(element.name.text)>".utf8)
        }
    }
}
