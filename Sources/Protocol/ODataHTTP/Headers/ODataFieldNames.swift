import HTTPTypes

extension HTTPField.Name {
    /// Returns the name of a field. The names are valid, so the fallback only avoids a trap.
    private static func odata(_ name: String) -> HTTPField.Name { HTTPField.Name(name) ?? .accept }

    /// The field `OData-Version` (OData Protocol 4.01, 8.1.5).
    public static let odataVersion = odata("OData-Version")
    /// The field `OData-MaxVersion` (OData Protocol 4.01, 8.2.7).
    public static let odataMaxVersion = odata("OData-MaxVersion")
    /// The field `OData-EntityId` (OData Protocol 4.01, 8.3.4).
    public static let odataEntityID = odata("OData-EntityId")
    /// The field `OData-Isolation` (OData Protocol 4.01, 8.2.6); 4.01 also allows `Isolation`.
    public static let odataIsolation = odata("OData-Isolation")
    /// The field `Isolation`, the name of ``odataIsolation`` since 4.01 (OData Protocol 4.01, 8.2.6).
    public static let isolation = odata("Isolation")
    /// The field `Slug`, the suggested name of a new media entity (RFC 5023, 9.7; OData Protocol 4.01, 11.4.7.1).
    static let slug = odata("Slug")
    /// The field `AsyncResult`, the status of an asynchronous request (OData Protocol 4.01, 8.3.1).
    public static let asyncResult = odata("AsyncResult")
    /// The field `Accept-Charset` (RFC 9110, 12.5.2).
    static let acceptCharset = odata("Accept-Charset")
    /// The field `X-HTTP-Method`, the intended method of a POST from a client that cannot send other methods
    /// (MS-ODATA, 2.2.5.8).
    static let httpMethod = odata("X-HTTP-Method")
    /// The field `X-HTTP-Method-Override`, another name of `X-HTTP-Method`.
    static let httpMethodOverride = odata("X-HTTP-Method-Override")
    /// The field `DataServiceVersion` of OData 1.0 to 3.0.
    public static let dataServiceVersion = odata("DataServiceVersion")
    /// The field `MaxDataServiceVersion` of OData 1.0 to 3.0.
    public static let maxDataServiceVersion = odata("MaxDataServiceVersion")
    /// The field `Prefer` (RFC 7240; OData Protocol 4.01, 8.2.8).
    public static let prefer = odata("Prefer")
    /// The field `Preference-Applied` (RFC 7240; OData Protocol 4.01, 8.3.6).
    public static let preferenceApplied = odata("Preference-Applied")
    /// The field `Repeatability-Request-ID` (OData Repeatable Requests 1.0, 3).
    public static let repeatabilityRequestID = odata("Repeatability-Request-ID")
    /// The field `Repeatability-First-Sent` (OData Repeatable Requests 1.0, 3).
    public static let repeatabilityFirstSent = odata("Repeatability-First-Sent")
    /// The field `Repeatability-Client-ID` (OData Repeatable Requests 1.0, 3).
    public static let repeatabilityClientID = odata("Repeatability-Client-ID")
    /// The field `Repeatability-Result` (OData Repeatable Requests 1.0, 3).
    public static let repeatabilityResult = odata("Repeatability-Result")
    /// The field `Content-ID`, the id of a request within a batch (OData Protocol 4.01, 11.7).
    public static let contentID = odata("Content-ID")
    /// The field `X-Request-ID`, the id of a request in the logs of client and service.
    public static let requestID = odata("X-Request-ID")
    /// The field `Content-Transfer-Encoding` in multipart batches (RFC 2045, 6).
    static let contentTransferEncoding = odata("Content-Transfer-Encoding")
}
