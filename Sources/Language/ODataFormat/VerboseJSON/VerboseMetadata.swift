import ODataModel

/// The value of `__metadata` or `__mediaresource` (OData JSON Verbose Format 3.0, 8.4 and 8.7).
struct VerboseMetadata {
    var id: String?
    var uri: String?
    var type: String?
    var etag: String?
    var contentType: String?
    var mediaReadLink: String?
    var mediaEditLink: String?
    var mediaEtag: String?
    /// The association links by navigation property (V3).
    var associationLinks: [String: String] = [:]
    /// The advertised actions and functions by name, as annotation values (V3).
    var operations: [String: ODataValue] = [:]

    init(_ scanner: inout JSONScanner, model: EntityDataModel) throws(JSONError) {
        guard try scanner.peekKind() == .object else {
            // Without control information, the values count.
            try scanner.skipValue()
            return
        }
        try scanner.beginObject()
        while let key = try scanner.nextKey() {
            let name = key.string
            switch (name, try scanner.peekKind()) {
            case ("properties", .object): try readProperties(&scanner)
            case ("actions", .object), ("functions", .object): try readOperations(&scanner, model)
            case (_, .string): take(name, try scanner.readString())
            default: try scanner.skipValue()
            }
        }
    }

    private mutating func take(_ name: String, _ value: String) {
        switch name {
        case "id": id = value
        case "uri": uri = value
        case "type": type = value
        case "etag": etag = value
        case "content_type": contentType = value
        case "media_src": mediaReadLink = value
        case "edit_media": mediaEditLink = value
        case "media_etag": mediaEtag = value
        default: break
        }
    }

    private mutating func readProperties(_ scanner: inout JSONScanner) throws(JSONError) {
        try scanner.beginObject()
        while let key = try scanner.nextKey() {
            let property = key.string
            guard try scanner.peekKind() == .object else {
                try scanner.skipValue()
                continue
            }
            try scanner.beginObject()
            while let key = try scanner.nextKey() {
                if key == "associationuri", try scanner.peekKind() == .string {
                    associationLinks[property] = try scanner.readString()
                } else {
                    try scanner.skipValue()
                }
            }
        }
    }

    private mutating func readOperations(_ scanner: inout JSONScanner, _ model: EntityDataModel) throws(JSONError) {
        try scanner.beginObject()
        while let key = try scanner.nextKey() {
            let url = key.string
            let name = url.halves(atLast: "#")?.behind ?? url[...]
            operations["#\(name)"] = try ODataValue(json: &scanner, type: .untyped("Edm.Untyped"), model: model)
        }
    }

    /// Adds the metadata to the control information of an instance.
    func apply(to instance: inout InstanceInProgress, model: EntityDataModel) {
        if let type {
            instance.hasStatedType = true
            if let shape = model.stated(type) {
                instance.entity.control.type = shape.name
                instance.adopt(shape)
            } else {
                instance.entity.control.annotations["odata.type"] = .string(type)
            }
        }
        // V2 has a single URI, which identifies the entry and is also its edit link.
        instance.entity.control.id = id ?? uri
        if let uri, let id, uri != id { instance.entity.control.editLink = uri }
        instance.entity.control.etag = etag
        instance.entity.control.mediaContentType = contentType
        instance.entity.control.mediaReadLink = mediaReadLink
        instance.entity.control.mediaEtag = mediaEtag
        if let mediaEditLink { instance.entity.control.annotations["odata.mediaEditLink"] = .string(mediaEditLink) }
        for (property, link) in associationLinks {
            instance.entity.control.annotations["\(property)@odata.associationLink"] = .string(link)
        }
        for (name, value) in operations { instance.entity.control.annotations[name] = value }
    }
}
