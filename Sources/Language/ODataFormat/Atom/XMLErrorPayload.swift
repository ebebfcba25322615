import ODataModel

extension ODataErrorPayload {
    /// Reads a response body whose root is `m:error` (OData Atom Format 4.0, 19; MS-ODATA, 2.2.6.5.10). Errors of
    /// gateways may contain their details in the inner error.
    ///
    /// - Throws: ``PayloadError/malformedXML(_:)`` if the root is another element.
    public init(xml bytes: [UInt8]) throws(PayloadError) {
        let root = try XMLBody.parse(bytes)
        // Any namespace is accepted, because services often use a wrong one for errors.
        guard root.name == "error" else {
            throw .malformedXML(root.error(.unexpected("the element \(root.name)"), expected: "the element error"))
        }
        self.init(root)
    }

    /// Reads the element `error`, or a `detail` in it.
    init(_ element: XMLFragment) {
        self.init(code: "", message: "")
        for child in element.elements {
            switch child.name {
            case "code": code = child.text
            case "message":
                message = child.text
                language = child.attribute("lang", AtomNames.xml)
            case "target": target = child.text
            case "details":
                for detail in child.elements where detail.name == "detail" { details.append(Detail(detail)) }
            case "innererror":
                var json = JSONWriter()
                Self.write(child, to: &json)
                innerError = String(decoding: json.bytes, as: UTF8.self)
                guard details.isEmpty else { continue }
                for list in child.elements where list.name == "errordetails" {
                    details += list.elements.filter { $0.name == "errordetail" }.map { Detail($0) }
                }
            default: break
            }
        }
    }

    /// Writes an element as JSON: text as a string, elements as members, and repeated elements as an array.
    private static func write(_ element: XMLFragment, to json: inout JSONWriter) {
        let children = element.elements
        if element.name == "errordetails" {
            // Gateways write this member as an array in JSON.
            json.beginArray()
            for child in children { write(child, to: &json) }
            return json.endArray()
        }
        guard !children.isEmpty else { return json.string(element.text) }
        json.beginObject()
        var named: [String: [XMLFragment]] = [:]
        for child in children { named[child.name, default: []].append(child) }
        for child in children {
            guard let same = named.removeValue(forKey: child.name) else { continue }
            json.key(child.name)
            let isList = same.count > 1
            if isList { json.beginArray() }
            for item in same { write(item, to: &json) }
            if isList { json.endArray() }
        }
        json.endObject()
    }

    /// Writes the error as an XML document.
    public func writeXML(version: ODataVersion = .v2) -> [UInt8] {
        var xml = XMLOutput()
        xml.declaration()
        xml.begin("m:error")
        xml.attribute("xmlns:m", AtomNames.metadata(version))
        xml.element("m:code", text: code)
        xml.element(
            "m:message", version < .v4 || language != nil ? [("xml:lang", language ?? "en")] : [], text: message)
        if version >= .v4 {
            if let target { xml.element("m:target", text: target) }
            if !details.isEmpty {
                xml.begin("m:details")
                for detail in details { detail.write("m:detail", to: &xml) }
                xml.end()
            }
        }
        writeInnerError(version, to: &xml)
        xml.end()
        return xml.bytes
    }

    private func writeInnerError(_ version: ODataVersion, to xml: inout XMLOutput) {
        let tree = innerError.flatMap { text in
            try? JSONScanner.scan(Array(text.utf8)) { (scanner) throws(JSONError) in try JSONTree(&scanner) }
        }
        if let tree {
            tree.write("m:innererror", to: &xml)
        } else if version < .v4, !details.isEmpty {
            xml.begin("m:innererror")
            xml.begin("m:errordetails")
            for detail in details { detail.write("m:errordetail", to: &xml) }
            xml.end()
            xml.end()
        }
    }
}

extension ODataErrorPayload.Detail {
    fileprivate init(_ element: XMLFragment) {
        self.init(code: "", message: "")
        for child in element.elements {
            switch child.name {
            case "code": code = child.text
            case "message": message = child.text
            case "target", "propertyref": if target == nil, !child.text.isEmpty { target = child.text }
            default: break
            }
        }
    }

    fileprivate func write(_ name: String, to xml: inout XMLOutput) {
        xml.begin(name)
        xml.element("m:code", text: code)
        xml.element("m:message", text: message)
        if let target { xml.element("m:target", text: target) }
        xml.end()
    }
}

/// JSON of unknown structure, for conversion to XML.
private indirect enum JSONTree {
    case text(String)
    case list([JSONTree])
    case object([(name: String, value: JSONTree)])

    init(_ scanner: inout JSONScanner) throws(JSONError) {
        switch try scanner.peekKind() {
        case .object:
            var members: [(name: String, value: JSONTree)] = []
            try scanner.beginObject()
            while let key = try scanner.nextKey() {
                let name = key.string
                members.append((name, try JSONTree(&scanner)))
            }
            self = .object(members)
        case .array:
            var items: [JSONTree] = []
            try scanner.beginArray()
            while try scanner.nextElement() { items.append(try JSONTree(&scanner)) }
            self = .list(items)
        case .string: self = .text(try scanner.readString())
        case .null:
            try scanner.readNull()
            self = .text("")
        default: self = .text(scanner.rawText(try scanner.skipValue()))
        }
    }

    /// Writes the value as XML. Members with names that XML does not allow are omitted.
    func write(_ name: String, to xml: inout XMLOutput) {
        switch self {
        case .text(let text): xml.element(name, text: text)
        case .list(let items) where name == "m:errordetails":
            xml.begin(name)
            for item in items { item.write("m:errordetail", to: &xml) }
            xml.end()
        case .list(let items): for item in items { item.write(name, to: &xml) }
        case .object(let members):
            xml.begin(name)
            for member in members where FeedMapping.isName(member.name) {
                member.value.write("m:\(member.name)", to: &xml)
            }
            xml.end()
        }
    }
}
