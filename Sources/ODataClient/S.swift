import ODataHTTP
