import HTTPTypes

extension HTTPField.Name {
    /// A name known to be well formed; the fallback can never be reached, but nothing may trap.
    private static func odata(_ name: String) -> HTTPField.Name { HTTPField.Name(name) ?? .accept }

    /// `OData-Version` (OData Protocol 4.01, 8.1.5).
    public static let odataVersion = odata("OData-Version")
    /// `OData-MaxVersion` (OData Protocol 4.01, 8.2.7).
    public static let odataMaxVersion = odata("OData-MaxVersion")
    /// `OData-EntityId` (OData Protocol 4.01, 8.3.4).
    public static let odataEntityID = odata("OData-EntityId")
    /// `OData-Isolation` (OData Protocol 4.01, 8.2.6); 4.01 also allows `Isolation`.
    public static let odataIsolation = odata("OData-Isolation")
    /// `Isolation`, the name of ``odataIsolation`` since 4.01 (OData Protocol 4.01, 8.2.6).
    public static let isolation = odata("Isolation")
    /// `Slug`: the name proposed for what a stream creates (RFC 5023, 9.7; OData Protocol 4.01, 11.4.7.1).
    static let slug = odata("Slug")
    /// `AsyncResult`: the status of a request that was answered later (OData Protocol 4.01, 8.3.1).
    public static let asyncResult = odata("AsyncResult")
    /// `Accept-Charset` (RFC 9110, 12.5.2).
    static let acceptCharset = odata("Accept-Charset")
    /// `X-HTTP-Method`: what a POST stands for, for clients that can send no other method (MS-ODATA, 2.2.5.8).
    static let httpMethod = odata("X-HTTP-Method")
    /// `X-HTTP-Method-Override`, the same under another name.
    static let httpMethodOverride = odata("X-HTTP-Method-Override")
    /// `DataServiceVersion` of OData 1.0 to 3.0.
    public static let dataServiceVersion = odata("DataServiceVersion")
    /// `MaxDataServiceVersion` of OData 1.0 to 3.0.
    public static let maxDataServiceVersion = odata("MaxDataServiceVersion")
    /// `Prefer` (RFC 7240; OData Protocol 4.01, 8.2.8).
    public static let prefer = odata("Prefer")
    /// `Preference-Applied` (RFC 7240; OData Protocol 4.01, 8.3.6).
    public static let preferenceApplied = odata("Preference-Applied")
    /// `Repeatability-Request-ID` (OData Repeatable Requests 1.0, 3).
    public static let repeatabilityRequestID = odata("Repeatability-Request-ID")
    /// `Repeatability-First-Sent` (OData Repeatable Requests 1.0, 3).
    public static let repeatabilityFirstSent = odata("Repeatability-First-Sent")
    /// `Repeatability-Client-ID` (OData Repeatable Requests 1.0, 3).
    public static let repeatabilityClientID = odata("Repeatability-Client-ID")
    /// `Repeatability-Result` (OData Repeatable Requests 1.0, 3).
    public static let repeatabilityResult = odata("Repeatability-Result")
    /// `Content-ID`, which names a request within a batch (OData Protocol 4.01, 11.7).
    public static let contentID = odata("Content-ID")
    /// `X-Request-ID`: what a request is called in the logs of both sides.
    public static let requestID = odata("X-Request-ID")
    /// `Content-Transfer-Encoding`, in multipart batches (RFC 2045, 6).
    static let contentTransferEncoding = odata("Content-Transfer-Encoding")
}
